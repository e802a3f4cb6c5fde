// SPDX-License-Identifier: Apache-2.0
//
// A device that jobs occupy, one after the other in the order of their requests, in whichever
// process they are. It has no thread: a request says until when it will have been served, and its
// own thread sleeps until then.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <takt/os/clock.hpp>

namespace takt::runner {

// Requests it for so long; until when. `free_at`: when all requests so far have been served, in ns.
inline os::TimePoint occupy(std::atomic<std::int64_t>& free_at,
                            std::chrono::nanoseconds time) noexcept {
  std::int64_t before = free_at.load();
  std::int64_t end = 0;
  do {
    // Asked anew each time: the order of requests is that in which they get their place.
    end = std::max(before, os::now().time_since_epoch().count()) + time.count();
  } while (!free_at.compare_exchange_weak(before, end));
  return os::TimePoint{std::chrono::nanoseconds{end}};
}

}  // namespace takt::runner
