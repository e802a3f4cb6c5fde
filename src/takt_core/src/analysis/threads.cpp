// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "wait_set.hpp"

namespace takt::analysis {
namespace {

constexpr nanoseconds longest = std::chrono::hours{24};  // nobody wants such a bound
constexpr int most_passes = 100;
constexpr int most_jobs = 1000;  // of one busy time

using Bound = std::optional<nanoseconds>;

class Threads {
 public:
  Threads(std::span<const Demand> demands, std::int64_t count, Effort& effort)
      : demands_(demands), count_(count), effort_(effort) {
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i].group >= groups_.size()) {
        groups_.resize(demands[i].group + 1);
      }
      groups_[demands[i].group].push_back(i);
      bounds_.emplace_back(demands[i].lag + demands[i].execution);
    }
    std::erase_if(groups_, [](const std::vector<std::size_t>& group) { return group.empty(); });
    work_.reserve(groups_.size());
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
  using Group = std::vector<std::size_t>;  // demands

  Bound response_of(std::size_t own) {
    const Demand& demand = demands_[own];
    const Group& group = *std::ranges::find_if(
        groups_, [&](const Group& one) { return std::ranges::count(one, own) > 0; });
    if (std::ranges::any_of(
            group, [&](std::size_t i) { return demands_[i].releases.period.count() <= 0; })) {
      return {};
    }
    const Bound busy = least(nanoseconds{1}, group, [&](nanoseconds window) {
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
      std::int64_t number = 0;
      nanoseconds next = never;
      for (const std::size_t i : group) {
        if (demands_[i].task == demand.task) {
          const Arrivals arrivals = i == own ? demand.releases : demands_[i].noticed();
          const std::int64_t count = arrivals.closed(at);
          number += count;
          next = std::min(next, arrivals.time(count));
        }
      }
      const Bound start = least(nanoseconds{0}, group, [&](nanoseconds window) {
        nanoseconds work = (number - 1) * demand.execution;
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
      worst = std::max(worst, *start + demand.execution - at + demand.lag);
      if (next - demand.lag >= *busy) {
        return worst;
      }
      at = next;
    }
    return {};
  }

  // The least window, not below `from`, that this work of the group fills together with the times
  // at which all threads run other groups.
  Bound least(nanoseconds from, const Group& own,
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
      const nanoseconds later = work(window) + *taken;
      if (later <= window) {
        return window;
      }
      window = later;
      if (window > longest) {
        return {};
      }
    }
  }

  // How long all threads run other groups, at most, from t0 on.
  Bound all_taken(const Group& own, nanoseconds window) {
    std::int64_t endless = 0;  // groups that may run all the time
    work_.clear();
    for (const Group& group : groups_) {
      if (&group == &own) {
        continue;
      }
      nanoseconds sum{0};
      const bool known = std::ranges::all_of(group, [&](std::size_t i) {
        const Demand& demand = demands_[i];
        if (!bounds_[i] || demand.releases.period.count() <= 0) {
          return false;
        }
        sum += demand.releases.open(window + *bounds_[i]) * demand.execution;
        return true;
      });
      if (known) {
        work_.push_back(sum);
      } else {
        ++endless;
      }
    }
    if (endless >= count_) {
      return {};
    }
    std::ranges::sort(work_, std::greater{});
    nanoseconds rest{0};
    for (const nanoseconds one : work_) {
      rest += one;
    }
    std::int64_t left = count_ - endless;  // threads, and the work for them without the m largest
    nanoseconds most = rest / left;
    for (std::size_t m = 0; m < work_.size() && left > 1; ++m) {
      rest -= work_[m];
      --left;
      most = std::min(most, rest / left);
    }
    return most;
  }

  std::span<const Demand> demands_;
  std::int64_t count_;
  Effort& effort_;
  std::vector<Group> groups_;
  std::vector<Bound> bounds_;      // by demand
  std::vector<nanoseconds> work_;  // of the groups
};

}  // namespace

std::vector<Response> thread_responses(std::span<const Demand> demands, Effort& effort,
                                       const Supply& supply) {
  if (supply.threads() == 1) {
    return wait_set_responses(demands, effort, supply);
  }
  return Threads{demands, supply.threads(), effort}.run();
}

}  // namespace takt::analysis
