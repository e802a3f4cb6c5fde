// SPDX-License-Identifier: Apache-2.0
//
// Status: what a call made in the loop has come to. The calls of the loop never throw and never
// allocate, so their outcome is a value: one return code of rcl, true where the call did its work.
// The text that rcl wrote about a failure stays with the thread that saw it, in last_error().
#pragma once

#include <rcl/types.h>

#include <takt/rcl/visibility.hpp>

namespace takt {

class TAKT_RCL_PUBLIC Status {
 public:
  constexpr Status() noexcept = default;
  constexpr explicit Status(rcl_ret_t code) noexcept : code_{code} {}

  // True: done. A take is done when it delivered a message.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return code_ == RCL_RET_OK; }

  // True when there was no message to take. This is normal and not a failure: the middleware may
  // drop a message of a full KEEP_LAST history after it announced it.
  [[nodiscard]] constexpr bool nothing_taken() const noexcept {
    return code_ == RCL_RET_SUBSCRIPTION_TAKE_FAILED;
  }

  // True when something went wrong; last_error() on the same thread says what.
  [[nodiscard]] constexpr bool failed() const noexcept {
    return code_ != RCL_RET_OK && code_ != RCL_RET_SUBSCRIPTION_TAKE_FAILED;
  }

  [[nodiscard]] constexpr rcl_ret_t code() const noexcept { return code_; }

  // The name of the code as rcl spells it ("RCL_RET_PUBLISHER_INVALID"), never null.
  [[nodiscard]] const char* name() const noexcept;

  friend constexpr bool operator==(Status, Status) noexcept = default;

 private:
  rcl_ret_t code_{RCL_RET_OK};
};

// What rcl said about the last call of this thread that returned a failed Status; valid until the
// next one on this thread. Empty when none failed. Allocates nothing.
[[nodiscard]] TAKT_RCL_PUBLIC const char* last_error() noexcept;

}  // namespace takt
