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
#include "thread_work.hpp"
#include "until_idle.hpp"

namespace takt::analysis {
namespace {

constexpr nanoseconds longest = ThreadWork::longest;
constexpr int most_passes = 100;
constexpr int most_jobs = 1000;  // of one busy time

class Threads {
  using Group = std::vector<std::size_t>;  // demands

  // The window from t0 on, and what all threads do in it while no core is away.
  struct Busy {
    nanoseconds window{0};
    nanoseconds work{0};
  };
  using Start = std::optional<Busy>;

  // Jobs of the same reentrant callback that start before J, by their stream.
  struct Before {
    std::size_t demand = 0;
    std::int64_t released = 0;  // that are noticed from t0 on
    std::int64_t older = 0;     // that run at t0
  };

 public:
  Threads(std::span<const Demand> demands, const Supply& supply, Effort& effort)
      : demands_(demands),
        supply_(supply),
        count_(supply.threads()),
        effort_(effort),
        until_idle_(longest_until_idle(demands, supply, effort)),
        work_(count_) {
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
    for (const Group& group : groups_) {
      const double own = is_reentrant(group) ? 0 : share_of(group);
      lasting_.push_back(own + share_taken_from(group) < share_left() - 1e-9);
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
        const Bound next = least_of(response_of(i), until_idle(i));
        if (!next || *next > *bounds_[i]) {
          bounds_[i] = pass < most_passes ? next : Bound{};  // what still grows has none
          changed = true;
        }
      }
    }
    std::vector<Response> result;
    result.reserve(bounds_.size());
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      const bool by_busy = bounds_[i] && bounds_[i] == until_idle(i);
      result.push_back({.bound = bounds_[i], .by = by_busy ? By::busy : By::test});
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

  [[nodiscard]] bool is_reentrant(const Group& group) const {
    return demands_[group.front()].reentrant;
  }

  // The share of the time in which jobs that a job of this group waits for may have all threads, in
  // the long run.
  [[nodiscard]] double share_taken_from(const Group& own) const {
    std::vector<double> shares;
    double reentrant = 0;
    for (const Group& group : groups_) {
      if (is_reentrant(group)) {
        reentrant += share_of(group);
      } else if (&group != &own) {
        shares.push_back(share_of(group));
      }
    }
    return share_of_all_threads(std::move(shares), reentrant, count_);
  }

  // Of a job that does not outlast the others.
  [[nodiscard]] Bound until_idle(std::size_t own) const {
    return sum(until_idle_, demands_[own].lag);
  }

  Bound response_of(std::size_t own) {
    const Demand& demand = demands_[own];
    const auto found = std::ranges::find_if(
        groups_, [&](const Group& one) { return std::ranges::count(one, own) > 0; });
    const Group& group = *found;
    if (!lasting_[static_cast<std::size_t>(found - groups_.begin())]) {
      return {};  // once busy, it may never be idle again
    }
    if (demand.reentrant) {
      return reentrant_response(own, group);
    }
    const Start busy = least(nanoseconds{1}, &group, {}, [&](nanoseconds window) {
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
      const Start start = least(nanoseconds{0}, &group, {}, [&](nanoseconds window) {
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

  // See threads.hpp; `older`: how many jobs of its own stream run at t0 and end after it.
  Bound reentrant_response(std::size_t own, const Group& group) {
    const Demand& demand = demands_[own];
    const auto nothing = [](nanoseconds /*window*/) { return nanoseconds{0}; };
    const Start busy = least(nanoseconds{1}, nullptr, {}, nothing);
    if (!busy) {
      return {};
    }
    nanoseconds worst{0};
    std::vector<Before> before;
    for (std::int64_t older = 0; older < count_; ++older) {
      nanoseconds at = next_release(own, 0, older);  // the release of J, from lag before t0 on
      for (int job = 0; at - demand.lag < busy->window; ++job) {
        const nanoseconds next = find_before(group, own, older, at, before);
        const Start start = least(nanoseconds{0}, &group, before, nothing);
        const Bound end = start ? end_of(*start, demand.execution) : Bound{};
        if (!end || job == most_jobs) {
          return {};
        }
        worst = std::max(worst, *end - at + demand.lag);
        at = next;
      }
    }
    return worst;
  }

  // The earliest release of the job after `count` that are noticed from t0 on and `older` before,
  // all of them within the bound of the first one.
  [[nodiscard]] nanoseconds next_release(std::size_t own, std::int64_t count,
                                         std::int64_t older) const {
    const Demand& demand = demands_[own];
    const nanoseconds first = demand.releases.time(count);
    return older == 0 ? first
                      : std::max(first, demand.releases.time(count + older) - *bounds_[own] +
                                            demand.lag + nanoseconds{1});
  }

  // The jobs of a reentrant callback before J, which is released then, and the next time at which
  // they may be more.
  nanoseconds find_before(const Group& group, std::size_t own, std::int64_t older, nanoseconds at,
                          std::vector<Before>& before) const {
    before.clear();
    nanoseconds next = never;
    for (const std::size_t i : group) {
      const Demand& demand = demands_[i];
      std::int64_t count = 0;
      if (i != own) {
        count = demand.noticed().closed(at);
        next = std::min(next, demand.noticed().time(count));
        before.push_back({.demand = i,
                          .released = count,
                          .older = bounds_[i] ? demand.releases.open(*bounds_[i]) : count_});
        continue;
      }
      while (next_release(i, count, older) <= at) {
        ++count;
      }
      next = std::min(next, next_release(i, count, older));
      before.push_back({.demand = i, .released = count - 1, .older = older});
    }
    return next;
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
  // at which all threads run other groups, or cores are away. `own`: the group, which is not
  // counted among the others, but for `before` of it; null: all are.
  Start least(nanoseconds from, const Group* own, std::span<const Before> before,
              const std::function<nanoseconds(nanoseconds)>& work) {
    nanoseconds window = from;
    for (;;) {
      if (!effort_.spend(demands_.size())) {
        return {};
      }
      const Bound taken = all_taken(own, before, window);
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

  // How long all threads run what J waits for, at most, from t0 on.
  Bound all_taken(const Group* own, std::span<const Before> before, nanoseconds window) {
    work_.clear();
    for (const Before& one : before) {
      work_.add_jobs(demands_[one.demand].execution, one.released, one.older);
    }
    for (const Group& group : groups_) {
      if (&group == own) {
        continue;
      }
      if (is_reentrant(group)) {
        add_reentrant(group, window);
      } else {
        add_exclusive(group, window);
      }
    }
    return work_.shared(effort_);
  }

  void add_reentrant(const Group& group, nanoseconds window) {
    for (const std::size_t i : group) {
      const Demand& demand = demands_[i];
      if (demand.releases.period.count() <= 0) {
        work_.add_jobs(longest, count_, 0);
        continue;
      }
      const std::int64_t released = demand.noticed().closed(window);
      work_.add_jobs(demand.execution, released,
                     bounds_[i] ? demand.releases.open(window + *bounds_[i]) - released : count_);
    }
  }

  void add_exclusive(const Group& group, nanoseconds window) {
    nanoseconds released{0};
    nanoseconds with_older{0};
    for (const std::size_t i : group) {
      const Demand& demand = demands_[i];
      if (demand.releases.period.count() <= 0) {
        released = with_older = longest;
        break;
      }
      released += demand.noticed().closed(window) * demand.execution;
      with_older +=
          bounds_[i] ? demand.releases.open(window + *bounds_[i]) * demand.execution : longest;
    }
    work_.add_group(released, with_older);
  }

  std::span<const Demand> demands_;
  const Supply& supply_;
  std::int64_t count_;
  Effort& effort_;
  Bound until_idle_;  // how long jobs follow one another, at most
  std::vector<Group> groups_;
  Group interrupts_;
  std::vector<bool> lasting_;  // by group: whether it is idle again and again
  std::vector<Bound> bounds_;  // by demand
  ThreadWork work_;
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
