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

nanoseconds PathInstances::met(nanoseconds time) const noexcept {
  return any.jobs(time) * (paced ? std::min(any.execution, *at_its_pace) : any.execution);
}

namespace {

// One job for each visit, of those that are there.
nanoseconds longest_blocking(const PathCore& core, nanoseconds time) {
  std::int64_t visits = core.visits;
  nanoseconds sum{0};
  for (auto blocker = core.blockers.begin(); visits > 0 && blocker != core.blockers.end();
       ++blocker) {
    if (blocker->of != nullptr && blocker->of->fewer) {
      continue;
    }
    const std::int64_t taken = std::min(visits, blocker->jobs(time));
    sum += taken * blocker->length;
    visits -= taken;
    if (blocker->of != nullptr) {
      blocker->of->blocking += taken * blocker->length;
    }
  }
  return sum;
}

}  // namespace

std::size_t PathWork::effort() const noexcept {
  std::size_t result = rivals.size() + instances.size() + 1;
  for (const auto& [at, core] : cores) {
    result += std::min(core.blockers.size(), static_cast<std::size_t>(core.visits));
  }
  return result;
}

// Of what counts in each core, and blocking.
nanoseconds PathWork::provided(nanoseconds time) {
  nanoseconds result{0};
  for (const auto& [at, core] : cores) {
    const nanoseconds sum = core.sum + longest_blocking(core, time);
    result += core.visits == 1 ? core.supply->time_for(sum)
                               : core.supply->time_in_parts(sum, core.visits);
  }
  return result;
}

// Whether no other instance of the path's root is released within this time.
bool PathWork::is_only_instance(nanoseconds time) const noexcept {
  constexpr nanoseconds tick{1};
  return releases->closed(time - tick) <= 1;
}

// Whether the path meets less of some instances than their links do one by one.
bool PathWork::is_less_by_instances(nanoseconds time) {
  bool any = false;
  for (auto& [root, one] : instances) {
    one.paced = one.at_its_pace && is_only_instance(time);
    one.fewer = one.limited && one.met(time) < one.work + one.blocking;
    any = any || one.fewer;
  }
  return any;
}

// Each of the messages' jobs that the path may wait for may be blocked by itself.
nanoseconds PathWork::beside_messages(nanoseconds time) const {
  nanoseconds result = in_order->longest;
  for (const PathRival& rival : rivals) {
    result += rival.jobs_beside_messages(time) * rival.execution;
  }
  for (const auto& [at, core] : cores) {
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
  if (!in_order || !is_only_instance(time)) {
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
  const bool later = std::ranges::any_of(rivals, [&](PathRival rival) {
    const std::int64_t jobs = rival.jobs(time);
    rival.after = rival.after && !rival.ordered;
    return rival.jobs(time) > jobs;
  });
  if (by_ == By::path_instances) {
    return later ? By::path_later_instances : by_;
  }
  return later ? By::path_later : by_;
}

nanoseconds PathWork::one_by_one(nanoseconds time) {
  by_ = By::path;
  for (auto& [at, core] : cores) {
    core.sum = core.work;
  }
  for (auto& [root, one] : instances) {
    one.work = one.blocking = nanoseconds{0};
    one.fewer = false;
  }
  for (const PathRival& rival : rivals) {
    const nanoseconds work = rival.jobs(time) * rival.execution;
    rival.on->sum += work;
    if (rival.of != nullptr) {
      rival.of->work += work;
    }
  }
  const nanoseconds each = provided(time);
  if (!is_less_by_instances(time)) {
    return each;
  }
  nanoseconds less = provided(time);  // others may block now
  for (const auto& [root, one] : instances) {
    less -= one.fewer ? one.work - one.met(time) : nanoseconds{0};
  }
  if (less < each) {
    const bool paced = std::ranges::any_of(instances, [](const auto& entry) {
      return entry.second.paced && *entry.second.at_its_pace < entry.second.any.execution;
    });
    by_ = paced ? By::path_paced : By::path_instances;
  }
  return std::min(each, less);
}

}  // namespace takt::analysis
