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

// When it holds nothing any more, of what it takes with this step and before it leaves that.
nanoseconds LockPlan::end_of_outermost(std::size_t taking) const noexcept {
  std::size_t held = 0;
  for (std::size_t i = taking;; ++i) {
    held = steps_[i].takes ? held + 1 : held - 1;
    if (held == 0) {
      return steps_[i].at;
    }
  }
}

// Each where the job holds no lock: after the outermost section, but before one with which the job
// ends, for it computes last.
void LockPlan::add_waits(nanoseconds computing, std::span<const nanoseconds> waits) noexcept {
  with_waits_.clear();
  std::size_t held = 0;
  nanoseconds now{0};
  const auto wait_until = [&](nanoseconds time, nanoseconds latest) {
    for (; !waits.empty() && waits.front() <= time; waits = waits.subspan(1)) {
      const nanoseconds at = std::min(waits.front(), latest);
      with_waits_.push_back({.at = std::max(now, at), .waits = true});
    }
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const LockStep& step = steps_[i];
    if (held == 0) {
      wait_until(end_of_outermost(i) == computing ? computing : step.at, step.at);
    }
    now = step.at;
    held = step.takes ? held + 1 : held - 1;
    with_waits_.push_back(step);
  }
  wait_until(computing, computing);
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
    add_waits(computing, waits);
  }
  return steps_;
}

}  // namespace takt::application
