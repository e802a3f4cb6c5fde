// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/supply.hpp"

#include <algorithm>
#include <limits>

namespace takt::analysis {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-use-enum-class): no enum; the compiler's 128-bit integer
__extension__ using Wide = __int128;

// Tests may add to it.
constexpr Wide longest = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

Supply::Supply(const application::Core& core) noexcept : interrupted_(!core.interrupts.empty()) {
  if (!core.supply) {
    return;
  }
  const application::Supply& supply = *core.supply;
  periodic_ = supply.period.count() > 0;
  budget_ = periodic_ ? supply.budget : nanoseconds{supply.rate};
  period_ = periodic_ ? supply.period : nanoseconds{application::Supply::whole};
  const nanoseconds deadline = supply.deadline.count() > 0 ? supply.deadline : period_;
  delay_ = periodic_ ? missing() + deadline - budget_ : supply.delay;
  whole_ = budget_ == period_ && delay_.count() == 0;
  interrupted_ = interrupted_ || !whole_;
  rate_ = static_cast<double>(budget_.count()) / static_cast<double>(period_.count());
}

Supply Supply::for_threads(std::int64_t count) const noexcept {
  Supply supply = *this;
  supply.threads_ = count;
  supply.rate_ += static_cast<double>(count - 1);
  return supply;
}

// A periodic resource at its worst gives a budget at the begin of one period, before the window,
// and then at the end of each, or right before the deadline.
nanoseconds Supply::limited_time_for(nanoseconds work) const noexcept {
  if (work.count() <= 0) {
    return work;
  }
  const Wide amount = work.count();
  const Wide budget = budget_.count();
  Wide time = delay_.count();
  if (periodic_) {
    time += (amount - 1) / budget * missing().count() + amount;
  } else {
    time += (amount * period_.count() + budget - 1) / budget;
  }
  return nanoseconds{static_cast<std::int64_t>(std::min(time, longest))};
}

// By the linear bound of sbf, which adds up.
nanoseconds Supply::limited_time_in_parts(nanoseconds work, std::int64_t windows) const noexcept {
  const Wide budget = budget_.count();
  const Wide time = Wide{windows} * (delay_.count() + 1) +
                    (Wide{work.count()} * period_.count() + budget - 1) / budget;
  return nanoseconds{static_cast<std::int64_t>(std::min(time, longest))};
}

}  // namespace takt::analysis
