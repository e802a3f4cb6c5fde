// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ranges>

#include "takt/application/lock.hpp"

namespace takt::application {

std::vector<std::vector<std::size_t>> enclosing(const std::vector<CriticalSection>& sections) {
  std::vector<std::vector<std::size_t>> result;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::erase_if(open,
                  [&](std::size_t outer) { return sections[outer].end() <= sections[i].begin; });
    result.push_back(open);
    open.push_back(i);
  }
  return result;
}

LockPlan::LockPlan(const std::vector<CriticalSection>& sections, std::size_t waits)
    : sections_{sections} {
  for (const CriticalSection& section : sections) {
    lengths_.push_back(section.longest);
  }
  steps_.reserve(2 * sections.size() + waits);
  with_waits_.reserve(2 * sections.size() + waits);
  open_.reserve(sections.size());
}

// What it holds and leaves by then, the innermost first.
void LockPlan::leave_until(nanoseconds time) noexcept {
  for (Open& section : open_ | std::views::reverse) {
    if (section.held && section.end <= time) {
      steps_.push_back({.at = section.end, .lock = section.lock, .takes = false});
      section.held = false;
    }
  }
  std::erase_if(open_, [&](const Open& section) { return section.declared <= time; });
}

// Each where the job holds no lock, as early as that.
void LockPlan::add_waits(std::span<const nanoseconds> waits) noexcept {
  with_waits_.clear();
  std::size_t held = 0;
  nanoseconds now{0};
  const auto wait_until = [&](nanoseconds time) {
    for (; held == 0 && !waits.empty() && waits.front() <= time; waits = waits.subspan(1)) {
      with_waits_.push_back({.at = std::max(now, waits.front()), .waits = true});
    }
  };
  for (const LockStep& step : steps_) {
    wait_until(step.at);
    now = step.at;
    held = step.takes ? held + 1 : held - 1;
    with_waits_.push_back(step);
  }
  wait_until(nanoseconds::max());
  steps_.swap(with_waits_);
}

std::span<const LockStep> LockPlan::steps_within(nanoseconds computing,
                                                 std::span<const nanoseconds> waits) noexcept {
  steps_.clear();
  open_.clear();
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const CriticalSection& section = sections_[i];
    leave_until(section.begin);
    nanoseconds end = std::min(computing, section.begin + lengths_[i]);
    bool held = end > section.begin;
    if (!open_.empty()) {
      held = held && open_.back().held;
      end = std::min(end, open_.back().end);
    }
    if (held) {
      steps_.push_back({.at = section.begin, .lock = section.lock, .takes = true});
    }
    open_.push_back({.lock = section.lock, .declared = section.end(), .end = end, .held = held});
  }
  leave_until(nanoseconds::max());
  if (!waits.empty()) {
    add_waits(waits);
  }
  return steps_;
}

}  // namespace takt::application
