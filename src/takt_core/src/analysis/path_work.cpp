// SPDX-License-Identifier: Apache-2.0
#include "path_work.hpp"

#include <algorithm>
#include <functional>

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
    return std::min(earlier + (now ? 1 : 0), all);
  }
  const std::int64_t from_now = latest.count() < 0 ? 0 : releases->closed(latest);
  const std::int64_t counted = on_path ? 1 : 0;
  return std::max<std::int64_t>(0, std::min(earlier + from_now, all) - counted);
}

std::int64_t PathBlocker::jobs(nanoseconds time) const noexcept {
  return all ? std::min(visits, all->jobs(time) - (part ? part->jobs(time) : 0)) : visits;
}

namespace {

// One job for each visit, of those that are there.
nanoseconds longest_blocking(PathCore& core) {
  std::int64_t visits = core.visits;
  std::ranges::sort(core.blocking, std::greater{});
  nanoseconds sum{0};
  for (const auto& [length, most] : core.blocking) {
    const std::int64_t taken = std::min(visits, most);
    sum += taken * length;
    visits -= taken;
  }
  return sum;
}

}  // namespace

nanoseconds PathWork::time_for(nanoseconds time) {
  const nanoseconds each = sum_up(time, false);
  const bool limited =
      std::ranges::any_of(instances, [](const auto& one) { return one.second.limited; });
  return limited ? std::min(each, sum_up(time, true)) : each;
}

// What instances can do that the path meets. Of the others it marks those that do less, link by
// link.
nanoseconds PathWork::by_instances(nanoseconds time) {
  for (auto& [root, one] : instances) {
    one.sum = nanoseconds{0};
  }
  for (const PathRival& rival : rivals) {
    if (rival.other != nobody) {
      instances.at(rival.other).sum += rival.jobs(time) * rival.execution;
    }
  }
  for (const PathBlocker& blocker : blockers) {
    if (blocker.other != nobody) {
      instances.at(blocker.other).sum += blocker.jobs(time) * blocker.length;
    }
  }
  nanoseconds result{0};
  for (auto& [root, one] : instances) {
    const nanoseconds most =
        one.limited ? one.any.jobs(time) * one.any.execution : nanoseconds::max();
    one.fewer = most < one.sum;
    result += one.fewer ? most : nanoseconds{0};
  }
  return result;
}

nanoseconds PathWork::sum_up(nanoseconds time, bool by_instances) {
  nanoseconds result = by_instances ? this->by_instances(time) : nanoseconds{0};
  const auto counts = [&](std::size_t other) {
    return !by_instances || other == nobody || !instances.at(other).fewer;
  };
  for (auto& [at, core] : cores) {
    core.sum = core.work;
    core.blocking.clear();
  }
  for (const PathRival& rival : rivals) {
    rival.on->sum += counts(rival.other) ? rival.jobs(time) * rival.execution : nanoseconds{0};
  }
  for (const PathBlocker& blocker : blockers) {
    if (counts(blocker.other)) {
      blocker.on->blocking.emplace_back(blocker.length, blocker.jobs(time));
    }
  }
  for (auto& [at, core] : cores) {
    core.sum += longest_blocking(core);
    result += core.visits == 1 ? core.supply->time_for(core.sum)
                               : core.supply->time_in_parts(core.sum, core.visits);
  }
  return result;
}

}  // namespace takt::analysis
