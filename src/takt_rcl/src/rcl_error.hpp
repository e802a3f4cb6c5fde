// SPDX-License-Identifier: Apache-2.0
//
// Takes rcl's error of this thread and clears it, so that the next one does not "overwrite" it.
#pragma once

#include <string>
#include <takt/rcl/error.hpp>
#include <takt/rcl/status.hpp>

namespace takt::detail {

[[nodiscard]] std::string take_rcl_error();

[[noreturn]] void throw_rcl_error(rcl_ret_t code, std::string operation, std::string where);

// Throws where `code` is not RCL_RET_OK.
inline void check(rcl_ret_t code, const char* operation, const std::string& where) {
  if (code != RCL_RET_OK) throw_rcl_error(code, operation, where);
}

// Keeps rcl's text for last_error().
void remember_rcl_error() noexcept;

// For the loop: a failure becomes a status, its text goes to last_error().
[[nodiscard]] inline Status to_status(rcl_ret_t code) noexcept {
  const Status status{code};
  if (status.failed()) [[unlikely]] {
    remember_rcl_error();
  }
  return status;
}

// For destructors, which cannot report otherwise: writes a failure to the ROS log.
void log_failure(rcl_ret_t code, const char* operation) noexcept;

}  // namespace takt::detail
