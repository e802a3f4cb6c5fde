// SPDX-License-Identifier: Apache-2.0
#include "takt/os/thread_id.hpp"

#include <pthread.h>
#include <unistd.h>

namespace takt::os::detail {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
constinit thread_local std::uint32_t own_thread_id = 0;

std::uint32_t ask_own_thread_id() noexcept {
  // The only thread of a child has another id than the one that it is a copy of.
  static const int refused = pthread_atfork(nullptr, nullptr, [] { own_thread_id = 0; });
  const auto id = static_cast<std::uint32_t>(gettid());
  if (refused == 0) {
    own_thread_id = id;
  }
  return id;
}

}  // namespace takt::os::detail
