// SPDX-License-Identifier: Apache-2.0
#include "due_sweep.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace takt::analysis {

bool DueSweep::find_dues(nanoseconds busy, Effort& effort) {
  constexpr std::size_t most_dues = 1'000'000;
  constexpr std::size_t steps_of_one = 16;  // it is put in order, and counted when it comes
  for (std::size_t i = 0; i < demands_.size(); ++i) {
    // What is noticed later finds all done.
    for (std::int64_t k = 0; !demands_[i].interrupt && noticed_[i].time(k) < busy; ++k) {
      if (dues_.size() >= most_dues || !effort.spend(steps_of_one)) {
        return false;
      }
      dues_.push_back({.at = curve_.delay(i) + demands_[i].releases.time(k), .of = i});
    }
  }
  std::ranges::sort(dues_, std::ranges::less{}, &Event::at);
  return true;
}

bool DueSweep::run(nanoseconds busy, Effort& effort) {
  if (!find_dues(busy, effort)) {
    return false;
  }
  time_ = nanoseconds{1};
  for (std::size_t i = 0; i < demands_.size(); ++i) {
    jobs_[i].noticed = 1;  // everybody's first, at 0
    if (demands_[i].interrupt) {
      jobs_[i].due = std::numeric_limits<std::int64_t>::max();
      count(i);
    }
    const nanoseconds second = noticed_[i].time(1);
    if (second < busy) {  // by then all is done
      coming_.push_back({.at = second, .of = i});
    }
  }
  std::ranges::make_heap(coming_, std::ranges::greater{}, &Event::at);
  go_on_to(time_);
  for (std::size_t next = 0; next < dues_.size();) {
    const nanoseconds due = dues_[next].at;
    for (; next < dues_.size() && dues_[next].at == due; ++next) {
      ++jobs_[dues_[next].of].due;
      count(dues_[next].of);
    }
    for (nanoseconds done = supply_.time_for(work_); done > time_; done = supply_.time_for(work_)) {
      if (!effort.spend(1)) {
        return false;
      }
      go_on_to(done);
    }
    late_.push_back({.due = due, .most = time_ - due});
  }
  for (std::size_t i = late_.size(); i-- > 1;) {
    late_[i - 1].most = std::max(late_[i - 1].most, late_[i].most);
  }
  return true;
}

// What is noticed before that is there.
void DueSweep::go_on_to(nanoseconds time) {
  time_ = time;
  while (!coming_.empty() && coming_.front().at < time) {
    std::ranges::pop_heap(coming_, std::ranges::greater{}, &Event::at);
    Event& next = coming_.back();
    ++jobs_[next.of].noticed;
    count(next.of);
    next.at = noticed_[next.of].time(jobs_[next.of].noticed);
    std::ranges::push_heap(coming_, std::ranges::greater{}, &Event::at);
  }
}

void DueSweep::count(std::size_t of) {
  Jobs& jobs = jobs_[of];
  const std::int64_t now = std::min(jobs.noticed, jobs.due);
  work_ += (now - jobs.counted) * demands_[of].execution;
  jobs.counted = now;
}

nanoseconds DueSweep::response(std::size_t demand) const {
  const nanoseconds delay = curve_.delay(demand);
  const auto late = std::ranges::lower_bound(late_, delay, std::ranges::less{}, &Late::due);
  const nanoseconds execution = demands_[demand].execution;
  return late == late_.end() ? execution : std::max(execution, delay + late->most);
}

}  // namespace takt::analysis
