// SPDX-License-Identifier: Apache-2.0
/// @file
/// RclError: the exception of set-up. Everything that creates entities (contexts, nodes,
/// publishers, subscriptions) throws it; functions for the loop return a Status instead, and
/// destructors never throw.
#pragma once

#include <rcl/types.h>

#include <stdexcept>
#include <string>
#include <takt/rcl/visibility.hpp>

namespace takt {

/// An operation of rcl failed. what() reads "<operation> (<where>): <reason> [<name of the code>
/// <code>]".
class TAKT_RCL_PUBLIC RclError : public std::runtime_error {
 public:
  /// The parts of the message, see the accessors.
  RclError(rcl_ret_t code, std::string operation, std::string where, std::string reason);
  RclError(const RclError&) = default;
  RclError& operator=(const RclError&) = default;
  RclError(RclError&&) = default;
  RclError& operator=(RclError&&) = default;
  ~RclError() override;

  /// The return code of rcl.
  [[nodiscard]] rcl_ret_t code() const noexcept { return code_; }

  /// What was attempted: "cannot create a publisher".
  [[nodiscard]] const std::string& operation() const noexcept { return operation_; }

  /// The entity: "topic 'scan', node '/radar'".
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

  /// The message of rcl, with a fix where rcl does not say enough.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  rcl_ret_t code_;
  std::string operation_;
  std::string where_;
  std::string reason_;
};

}  // namespace takt
