// SPDX-License-Identifier: Apache-2.0
//
// RclError: setting up failed. Everything that creates (context, node, publisher, subscription)
// throws it; the loop returns a Status instead, and closing never throws.
#pragma once

#include <rcl/types.h>

#include <stdexcept>
#include <string>
#include <takt/rcl/visibility.hpp>

namespace takt {

// what() reads "<operation> (<where>): <reason> [<name of the code> <code>]".
class TAKT_RCL_PUBLIC RclError : public std::runtime_error {
 public:
  RclError(rcl_ret_t code, std::string operation, std::string where, std::string reason);

  [[nodiscard]] rcl_ret_t code() const noexcept { return code_; }

  // What was attempted: "cannot create a publisher".
  [[nodiscard]] const std::string& operation() const noexcept { return operation_; }

  // On which entity: "topic 'scan', node '/radar'".
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

  // What rcl said, with what to do where rcl says too little.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  rcl_ret_t code_;
  std::string operation_;
  std::string where_;
  std::string reason_;
};

}  // namespace takt
