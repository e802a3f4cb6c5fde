// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "bounds.hpp"

namespace takt::analysis {
namespace {

constexpr nanoseconds longest = std::chrono::hours{24};  // nobody wants such a bound
constexpr int most_passes = 100;
constexpr int most_jobs = 1000;  // of one busy time

class Threads {
  using Group = std::vector<std::size_t>;  // demands

  // Of a group, at most: what is noticed from t0 on, and the same with what is left from before.
  struct Work {
    nanoseconds released{0};
    nanoseconds with_older{0};
  };

  // The window from t0 on, and what all threads do in it while no core is away.
  struct Busy {
    nanoseconds window{0};
    nanoseconds work{0};
  };
  using Start = std::optional<Busy>;

 public:
  Threads(std::span<const Demand> demands, const Supply& supply, Effort& effort)
      : demands_(demands), supply_(supply), count_(supply.threads()), effort_(effort) {
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i].interrupt) {
        interrupts_.push_back(i);
        bounds_.emplace_back();
        continue;
      }
      if (demands[i].group >= groups_.size()) {
        groups_.resize(demands[i].group + 1);
      }
      groups_[demands[i].group].push_back(i);
      bounds_.emplace_back(demands[i].lag + demands[i].execution);
    }
    std::erase_if(groups_, [](const Group& group) { return group.empty(); });
    work_.reserve(groups_.size());
    for (const Group& group : groups_) {
      lasting_.push_back(share_of(group) + share_taken_from(group) < share_left() - 1e-9);
    }
  }

  std::vector<Response> run() {
    bool changed = true;
    for (int pass = 0; changed; ++pass) {
      changed = false;
      for (std::size_t i = 0; i < demands_.size(); ++i) {
        if (!bounds_[i]) {
          continue;
        }
        const Bound next = response_of(i);
        if (!next || *next > *bounds_[i]) {
          bounds_[i] = pass < most_passes ? next : Bound{};  // what still grows has none
          changed = true;
        }
      }
    }
    std::vector<Response> result;
    result.reserve(bounds_.size());
    for (const Bound& bound : bounds_) {
      result.push_back({.bound = bound});
    }
    return result;
  }

 private:
  // Of one thread; infinite without a bound on the releases.
  [[nodiscard]] double share_of(const Group& group) const {
    double share = 0;
    for (const std::size_t i : group) {
      share += utilization(demands_[i]);
    }
    return share;
  }

  // The share of the time in which no core is away, in the long run.
  [[nodiscard]] double share_left() const {
    return supply_.rate() - static_cast<double>(count_ - 1) - share_of(interrupts_);
  }

  // The share of the time in which others may have all threads, in the long run.
  [[nodiscard]] double share_taken_from(const Group& own) const {
    std::vector<double> shares;
    double rest = 0;
    for (const Group& group : groups_) {
      if (&group != &own) {
        shares.push_back(std::min(1.0, share_of(group)));
        rest += shares.back();
      }
    }
    std::ranges::sort(shares, std::greater{});
    std::int64_t threads = count_;
    double least = rest / static_cast<double>(threads);
    for (const double share : shares | std::views::take(count_ - 1)) {  // it has one thread
      rest -= share;
      least = std::min(least, rest / static_cast<double>(--threads));
    }
    return least;
  }

  Bound response_of(std::size_t own) {
    const Demand& demand = demands_[own];
    const auto found = std::ranges::find_if(
        groups_, [&](const Group& one) { return std::ranges::count(one, own) > 0; });
    const Group& group = *found;
    if (!lasting_[static_cast<std::size_t>(found - groups_.begin())]) {
      return {};  // once busy, it may never be idle again
    }
    const Start busy = least(nanoseconds{1}, group, [&](nanoseconds window) {
      nanoseconds work{0};
      for (const std::size_t i : group) {
        work += demands_[i].noticed().open(window) * demands_[i].execution;
      }
      return work;
    });
    if (!busy) {
      return {};
    }
    nanoseconds worst{0};
    nanoseconds at{0};  // the release of J, from lag before t0 on
    for (int job = 0; job < most_jobs; ++job) {
      const auto [number, next] = released(group, own, at);
      const std::int64_t before = number - 1;
      const Start start = least(nanoseconds{0}, group, [&](nanoseconds window) {
        nanoseconds work = before * demand.execution;
        for (const std::size_t i : group) {
          if (demands_[i].task != demand.task) {
            work += demands_[i].noticed().closed(window) * demands_[i].execution;
          }
        }
        return work;
      });
      if (!start) {
        return {};
      }
      const Bound end = end_of(*start, demand.execution);
      if (!end) {
        return {};
      }
      worst = std::max(worst, *end - at + demand.lag);
      if (next - demand.lag >= busy->window) {
        return worst;
      }
      at = next;
    }
    return {};
  }

  // How many jobs of the callback have been released by then, at most, and when the next one is.
  [[nodiscard]] std::pair<std::int64_t, nanoseconds> released(const Group& group, std::size_t own,
                                                              nanoseconds at) const {
    std::int64_t number = 0;
    nanoseconds next = never;
    for (const std::size_t i : group) {
      if (demands_[i].task == demands_[own].task) {
        const Arrivals arrivals = i == own ? demands_[i].releases : demands_[i].noticed();
        const std::int64_t count = arrivals.closed(at);
        number += count;
        next = std::min(next, arrivals.time(count));
      }
    }
    return {number, next};
  }

  // When a job ends that computes from then on.
  Bound end_of(const Busy& start, nanoseconds execution) {
    nanoseconds end = start.window + execution;
    for (;;) {
      if (!effort_.spend(interrupts_.size() + 1)) {
        return {};
      }
      const nanoseconds later = supply_.time_for(start.work + execution + interrupted(end, false));
      if (later <= end) {
        return end;
      }
      end = later;
      if (end > longest) {
        return {};
      }
    }
  }

  // What takes time from the cores in a window from t0 on.
  [[nodiscard]] nanoseconds interrupted(nanoseconds window, bool closed) const noexcept {
    nanoseconds sum{0};
    for (const std::size_t i : interrupts_) {
      const Arrivals noticed = demands_[i].noticed();
      sum += (closed ? noticed.closed(window) : noticed.open(window)) * demands_[i].execution;
    }
    return sum;
  }

  // The least window, not below `from`, that this work of the group fills together with the times
  // at which all threads run other groups, or cores are away.
  Start least(nanoseconds from, const Group& own,
              const std::function<nanoseconds(nanoseconds)>& work) {
    nanoseconds window = from;
    for (;;) {
      if (!effort_.spend(demands_.size())) {
        return {};
      }
      const Bound taken = all_taken(own, window);
      if (!taken) {
        return {};
      }
      const nanoseconds busy = work(window) + *taken;
      const nanoseconds later = supply_.start_after(busy + interrupted(window, true));
      if (later <= window) {
        return Busy{.window = window, .work = busy};
      }
      window = later;
      if (window > longest) {
        return {};
      }
    }
  }

  // How long all threads run other groups, at most, from t0 on.
  Bound all_taken(const Group& own, nanoseconds window) {
    work_.clear();
    nanoseconds most{0};
    for (const Group& group : groups_) {
      if (&group == &own) {
        continue;
      }
      Work work;
      for (const std::size_t i : group) {
        const Demand& demand = demands_[i];
        if (demand.releases.period.count() <= 0) {
          work = {.released = longest, .with_older = longest};
          break;
        }
        work.released += demand.noticed().closed(window) * demand.execution;
        work.with_older +=
            bounds_[i] ? demand.releases.open(window + *bounds_[i]) * demand.execution : longest;
      }
      most += work.released;
      work_.push_back(work);
    }
    most = std::min(most, longest);
    for (;;) {
      if (!effort_.spend(work_.size())) {
        return {};
      }
      const nanoseconds less = shared_within(most);
      if (less >= most) {
        return most < longest ? Bound{most} : Bound{};
      }
      most = less;
    }
  }

  // How long all threads can have something of this work, if none of them has more than `most` of
  // one group.
  nanoseconds shared_within(nanoseconds most) {
    nanoseconds sum{0};
    older_.clear();
    for (const Work& work : work_) {
      const nanoseconds released = std::min(work.released, most);
      sum += released;
      older_.push_back(std::min(work.with_older, most) - released);
    }
    const auto count = std::min(older_.size(), static_cast<std::size_t>(count_ - 1));
    std::ranges::partial_sort(older_, older_.begin() + static_cast<std::ptrdiff_t>(count),
                              std::greater{});
    for (const nanoseconds older : older_ | std::views::take(count)) {
      sum += older;
    }
    return sum / count_;
  }

  std::span<const Demand> demands_;
  const Supply& supply_;
  std::int64_t count_;
  Effort& effort_;
  std::vector<Group> groups_;
  Group interrupts_;
  std::vector<bool> lasting_;  // by group: whether it is idle again and again
  std::vector<Bound> bounds_;  // by demand
  std::vector<Work> work_;
  std::vector<nanoseconds> older_;  // of the groups
};

}  // namespace

bool has_several_threads(const application::Application& application,
                         const sched::CompiledScenario& scenario) {
  return sched::has_threads(scenario.policy().name()) && application.cpus.size() > 1;
}

std::vector<std::size_t> group_numbers(const sched::CompiledStrategy& strategy) {
  std::vector<std::size_t> numbers;
  numbers.reserve(strategy.tasks().size());
  std::map<std::string_view, std::size_t> known;
  for (const sched::Task& task : strategy.tasks()) {
    const std::size_t own = numbers.size();
    numbers.push_back(task.group.empty() ? own : known.try_emplace(task.group, own).first->second);
  }
  return numbers;
}

std::vector<Response> thread_responses(std::span<const Demand> demands, Effort& effort,
                                       const Supply& supply) {
  return Threads{demands, supply, effort}.run();
}

}  // namespace takt::analysis
