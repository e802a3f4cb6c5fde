// SPDX-License-Identifier: Apache-2.0
#include <rcl/error_handling.h>
#include <rcutils/logging_macros.h>

#include <algorithm>
#include <array>
#include <takt/rcl/error.hpp>
#include <utility>

#include "rcl_error.hpp"

namespace takt {

namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of each thread, as errno
thread_local std::array<char, sizeof(rcl_error_string_t::str)> last_error_text{};

std::string compose(rcl_ret_t code, const std::string& operation, const std::string& where,
                    const std::string& reason) {
  return operation + " (" + where + "): " + reason + " [" + Status{code}.name() + " " +
         std::to_string(code) + "]";
}

}  // namespace

const char* last_error() noexcept {
  return last_error_text.data();
}

RclError::RclError(rcl_ret_t code, std::string operation, std::string where, std::string reason)
    : std::runtime_error{compose(code, operation, where, reason)},
      code_{code},
      operation_{std::move(operation)},
      where_{std::move(where)},
      reason_{std::move(reason)} {}

// Not inline, so that the type is defined here alone.
RclError::~RclError() = default;

namespace detail {

std::string take_rcl_error() {
  std::string text = rcl_error_is_set() ? static_cast<const char*>(rcl_get_error_string().str)
                                        : "rcl gave no reason";
  rcl_reset_error();
  return text;
}

void throw_rcl_error(rcl_ret_t code, std::string operation, std::string where) {
  throw RclError{code, std::move(operation), std::move(where), take_rcl_error()};
}

void remember_rcl_error() noexcept {
  const rcl_error_string_t text = rcl_get_error_string();
  std::ranges::copy(text.str, last_error_text.begin());
  last_error_text.back() = '\0';
  rcl_reset_error();
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): of the macro
void log_failure(rcl_ret_t code, const char* operation) noexcept {
  if (code == RCL_RET_OK) {
    return;
  }
  RCUTILS_LOG_ERROR_NAMED("takt_rcl", "%s: %s [%s %d]", operation, rcl_get_error_string().str,
                          Status{code}.name(), code);
  rcl_reset_error();
}

}  // namespace detail

}  // namespace takt
