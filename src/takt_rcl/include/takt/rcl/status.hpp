// SPDX-License-Identifier: Apache-2.0
/// @file
/// Status: the result of a call in the loop. Such calls neither throw nor allocate, so their result
/// is a value: a return code of rcl, true if the call succeeded. The message of rcl about a failure
/// stays with the thread, in last_error().
#pragma once

#include <rcl/types.h>

#include <takt/rcl/visibility.hpp>

namespace takt {

/// A return code of rcl.
class TAKT_RCL_PUBLIC Status {
 public:
  constexpr Status() noexcept = default;

  /// A result of rcl.
  constexpr explicit Status(rcl_ret_t code) noexcept : code_{code} {}

  /// Whether the call succeeded; for a take: whether it delivered a message.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return code_ == RCL_RET_OK; }

  /// Whether there was no message to take. This is normal and not a failure: the middleware may
  /// drop a message of a full KEEP_LAST history after it was announced.
  [[nodiscard]] constexpr bool nothing_taken() const noexcept {
    return code_ == RCL_RET_SUBSCRIPTION_TAKE_FAILED;
  }

  /// Whether the call failed; last_error() on the same thread says why.
  [[nodiscard]] constexpr bool failed() const noexcept {
    return code_ != RCL_RET_OK && code_ != RCL_RET_SUBSCRIPTION_TAKE_FAILED;
  }

  /// The return code of rcl.
  [[nodiscard]] constexpr rcl_ret_t code() const noexcept { return code_; }

  /// The name of the code as rcl spells it ("RCL_RET_PUBLISHER_INVALID"), never null.
  [[nodiscard]] const char* name() const noexcept;

  friend constexpr bool operator==(Status, Status) noexcept = default;

 private:
  rcl_ret_t code_{RCL_RET_OK};
};

/// The message of rcl about the last call of this thread that returned a failed Status; valid until
/// the next one on this thread; empty if none failed. Allocates nothing.
[[nodiscard]] TAKT_RCL_PUBLIC const char* last_error() noexcept;

}  // namespace takt
