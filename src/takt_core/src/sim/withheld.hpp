// SPDX-License-Identifier: Apache-2.0
//
// When a core is not there for jobs in virtual time: gaps of its supply, and interrupts. Each is so
// much time that it is away for, from a moment on; what overlaps adds up, because an interrupt
// needs the core as well.
//
// At the worst, both are as dense as declared from the start on: the longest time without supply,
// and a full burst of interrupts. Drawn, the budget comes anywhere within each period, and
// interrupts up to a burst's length late. A bounded delay is a periodic resource that provides no
// less: gaps of half the delay.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"
#include "takt/application/core.hpp"
#include "takt/os/clock.hpp"

namespace takt::sim {

using os::TimePoint;
using std::chrono::nanoseconds;

class Withheld {
 public:
  // Never.
  Withheld() = default;
  Withheld(const application::Core& core, bool drawn, std::uint64_t seed);

  // The next moment from which on it is away.
  [[nodiscard]] TimePoint next() const noexcept { return next_; }
  // For how long; goes on to the one after that.
  nanoseconds take() noexcept;

 private:
  // Every `period`, `length` long: event k comes from k * period - early on, never before 0, and if
  // drawn up to `late` after that.
  struct Source {
    nanoseconds period{0};
    nanoseconds early{0};
    nanoseconds length{0};
    nanoseconds late{0};
    RandomStream draws = {};
    std::int64_t index = 0;
    TimePoint next = TimePoint{};
  };

  void add(Source source, std::uint64_t seed, std::uint64_t stream);
  void go_on(Source& source) const noexcept;
  void find_next() noexcept;

  bool drawn_ = false;
  std::vector<Source> sources_;
  TimePoint next_ = TimePoint::max();
};

}  // namespace takt::sim
