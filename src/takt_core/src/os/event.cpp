// SPDX-License-Identifier: Apache-2.0
#include "takt/os/event.hpp"

namespace takt::os {

template <FutexScope Scope>
void BasicEvent<Scope>::wait() noexcept {
  if (try_wait()) {
    return;
  }
  waiters_.fetch_add(1);
  while (!try_wait()) {
    futex_wait(set_, 0, Scope);
  }
  waiters_.fetch_sub(1);
}

template <FutexScope Scope>
bool BasicEvent<Scope>::wait_until(TimePoint deadline) noexcept {
  if (try_wait()) {
    return true;
  }
  waiters_.fetch_add(1);
  bool taken = try_wait();
  while (!taken) {
    const FutexResult result = futex_wait_until(set_, 0, deadline, Scope);
    taken = try_wait();  // also after a time-out: the event may have been set at the last moment
    if (result == FutexResult::timed_out) {
      break;
    }
  }
  waiters_.fetch_sub(1);
  return taken;
}

template class BasicEvent<FutexScope::shared>;
template class BasicEvent<FutexScope::process>;

}  // namespace takt::os
