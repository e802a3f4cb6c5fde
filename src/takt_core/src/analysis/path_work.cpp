// SPDX-License-Identifier: Apache-2.0
#include "path_work.hpp"

#include <algorithm>

namespace takt::analysis {

std::int64_t PathRival::jobs(nanoseconds time) const noexcept {
  constexpr nanoseconds tick{1};
  const nanoseconds latest = std::min(time - offset - tick, due);
  const nanoseconds window = latest + end - tick;
  const std::int64_t all = window.count() < 0 ? 0 : releases->closed(window);
  if (!own) {
    return all;
  }
  const std::int64_t earlier = releases->closed(end - tick) - 1;
  if (after) {
    return std::min(earlier + (now && !elsewhere && (within || latest.count() >= 0) ? 1 : 0), all);
  }
  const std::int64_t from_now = latest.count() < 0 ? 0 : releases->closed(latest);
  const std::int64_t counted = on_path || (elsewhere && from_now > 0) ? 1 : 0;
  return std::max<std::int64_t>(0, std::min(earlier + from_now, all) - counted);
}

nanoseconds PathRival::same_before(nanoseconds time, std::int64_t jobs) const noexcept {
  constexpr nanoseconds tick{1};
  if (own) {
    return time;
  }
  const nanoseconds next = (jobs > 0 ? releases->time(jobs) : nanoseconds{0}) - (end - tick);
  return next > due ? never : next + offset + tick;
}

std::int64_t PathRival::jobs_beside_messages(nanoseconds time) const noexcept {
  if (message) {
    return 0;
  }
  PathRival all = *this;
  all.after = after && at_end;
  all.due = due == never ? never : due + on->due_later;
  return all.jobs(time);
}

std::int64_t PathBlocker::jobs_beside_messages(nanoseconds time, std::int64_t most) const noexcept {
  if (!all) {
    return most;
  }
  const std::int64_t counted = part ? part->jobs_beside_messages(time) : 0;
  return std::min(most, all->jobs_beside_messages(time) - counted);
}

std::int64_t PathBlocker::jobs(nanoseconds time) const noexcept {
  return all ? std::min(visits, all->jobs(time) - (part ? part->jobs(time) : 0)) : visits;
}

void PathWork::begin(const Arrivals& releases) noexcept {
  releases_ = &releases;
  for (const PathCore& core : cores_) {
    place_of_core_[core.core] = nobody;
  }
  for (const PathInstances& one : instances_) {
    place_of_root_[one.root] = nobody;
  }
  cores_.clear();
  instances_.clear();
  rivals_.clear();
  jobs_.clear();
  in_order_.reset();
}

PathCore& PathWork::core(std::size_t number) {
  std::size_t& place = place_of_core_[number];
  if (place == nobody) {
    place = cores_.size();
    cores_.push_back({.core = number});
  }
  return cores_[place];
}

PathInstances& PathWork::instances_of(std::size_t root) {
  std::size_t& place = place_of_root_[root];
  if (place == nobody) {
    place = instances_.size();
    instances_.push_back({.root = root});
  }
  return instances_[place];
}

nanoseconds PathInstances::met() const noexcept {
  return jobs * (paced ? std::min(any.execution, *at_its_pace) : any.execution);
}

// One job for each visit, of those that are there.
nanoseconds PathWork::longest_blocking(const PathCore& core, nanoseconds time) noexcept {
  std::int64_t visits = core.visits;
  nanoseconds sum{0};
  for (auto blocker = core.blockers.begin(); visits > 0 && blocker != core.blockers.end();
       ++blocker) {
    if (blocker->of != nobody && instances_[blocker->of].fewer) {
      continue;
    }
    const std::int64_t taken = std::min(visits, blocker->jobs(time));
    sum += taken * blocker->length;
    visits -= taken;
    if (blocker->of != nobody) {
      instances_[blocker->of].blocking += taken * blocker->length;
    }
  }
  return sum;
}

std::size_t PathWork::effort() const noexcept {
  std::size_t result = rivals_.size() + instances_.size() + 1;
  for (const PathCore& core : cores_) {
    result += std::min(core.blockers.size(), static_cast<std::size_t>(core.visits));
  }
  return result;
}

// Of what counts in each core, and blocking.
nanoseconds PathWork::provided(nanoseconds time) noexcept {
  nanoseconds result{0};
  for (const PathCore& core : cores_) {
    const nanoseconds sum = core.work + core.rivals + longest_blocking(core, time);
    result += core.visits == 1 ? core.supply->time_for(sum)
                               : core.supply->time_in_parts(sum, core.visits);
  }
  return result;
}

// Whether no other instance of the path's root is released within this time.
bool PathWork::is_only_instance(nanoseconds time) const noexcept {
  constexpr nanoseconds tick{1};
  return releases_->closed(time - tick) <= 1;
}

// Whether the path meets less of some instances than their links do one by one.
bool PathWork::is_less_by_instances(nanoseconds time) noexcept {
  bool any = false;
  for (PathInstances& one : instances_) {
    if (one.limited && time >= one.same_before) {
      one.jobs = one.any.jobs(time);
      one.same_before = one.any.same_before(time, one.jobs);
    }
    one.paced = one.at_its_pace && is_only_instance(time);
    one.fewer = one.limited && one.met() < one.work + one.blocking;
    any = any || one.fewer;
  }
  return any;
}

// Each of the messages' jobs that the path may wait for may be blocked by itself.
nanoseconds PathWork::beside_messages(nanoseconds time) const noexcept {
  nanoseconds result = in_order_->longest;
  for (const PathRival& rival : rivals_) {
    result += rival.jobs_beside_messages(time) * rival.execution;
  }
  for (const PathCore& core : cores_) {
    std::int64_t blocked = core.messages;
    for (const PathBlocker& blocker : core.blockers) {
      const std::int64_t taken = std::min(blocked, blocker.jobs_beside_messages(time, blocked));
      result += taken * blocker.length;
      blocked -= taken;
    }
  }
  return result;
}

nanoseconds PathWork::time_for(nanoseconds time) {
  const nanoseconds each = one_by_one(time);
  if (!in_order_ || !is_only_instance(time)) {
    return each;
  }
  const nanoseconds together = beside_messages(time);
  if (together < each) {
    by_ = By::path_messages;
  }
  return std::min(each, together);
}

By PathWork::by(nanoseconds time) const noexcept {
  if (by_ == By::path_messages) {
    return by_;
  }
  const bool later = std::ranges::any_of(rivals_, [&](const PathRival& rival) {
    if (!rival.after || !rival.ordered) {
      return false;
    }
    PathRival any = rival;
    any.after = false;
    return any.jobs(time) > rival.jobs(time);
  });
  if (by_ == By::path_instances) {
    return later ? By::path_later_instances : by_;
  }
  return later ? By::path_later : by_;
}

// Only where their number has changed since the time before.
void PathWork::count_rivals(nanoseconds time) noexcept {
  for (std::size_t i = 0; i < rivals_.size(); ++i) {
    Counted& counted = jobs_[i];
    if (time < counted.same_before) {
      continue;
    }
    const PathRival& rival = rivals_[i];
    const std::int64_t jobs = rival.jobs(time);
    const nanoseconds work = (jobs - counted.jobs) * rival.execution;
    rival.on->rivals += work;
    if (rival.of != nobody) {
      instances_[rival.of].work += work;
    }
    counted = {.same_before = rival.same_before(time, jobs), .jobs = jobs};
  }
}

nanoseconds PathWork::one_by_one(nanoseconds time) noexcept {
  by_ = By::path;
  count_rivals(time);
  for (PathInstances& one : instances_) {
    one.blocking = nanoseconds{0};
    one.fewer = false;
  }
  const nanoseconds each = provided(time);
  if (!is_less_by_instances(time)) {
    return each;
  }
  nanoseconds less = provided(time);  // others may block now
  for (const PathInstances& one : instances_) {
    less -= one.fewer ? one.work - one.met() : nanoseconds{0};
  }
  if (less < each) {
    const bool paced = std::ranges::any_of(instances_, [](const PathInstances& one) {
      return one.paced && *one.at_its_pace < one.any.execution;
    });
    by_ = paced ? By::path_paced : By::path_instances;
  }
  return std::min(each, less);
}

}  // namespace takt::analysis
