// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernel's id of the calling thread, without a system call.
#pragma once

#include <cstdint>

#include "takt/visibility.hpp"

namespace takt::os {

namespace detail {

// 0: not asked yet, or not since fork().
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model(
    "initial-exec")]] TAKT_CORE_PUBLIC extern constinit thread_local std::uint32_t own_thread_id;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

TAKT_CORE_PUBLIC std::uint32_t ask_own_thread_id() noexcept;

}  // namespace detail

/// The kernel's id of the calling thread. A system call the first time; real-time safe afterwards.
[[nodiscard]] inline std::uint32_t own_thread_id() noexcept {
  const std::uint32_t known = detail::own_thread_id;
  return known != 0 ? known : detail::ask_own_thread_id();
}

}  // namespace takt::os
