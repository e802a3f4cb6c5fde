// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <ranges>
#include <span>

#include "arrival_count.hpp"
#include "later_jobs.hpp"
#include "subchain_returns.hpp"
#include "subchains.hpp"

namespace takt::analysis {

std::vector<std::size_t> Subchains::path(std::size_t link) const {
  std::vector<std::size_t> result;
  for (; link != nobody; link = links[link].before) {
    result.push_back(link);
  }
  std::ranges::reverse(result);
  return result;
}

std::vector<bool> Subchains::behind(std::size_t link) const {
  std::vector<bool> result(links.size(), false);
  for (std::size_t i = link + 1; i < links.size(); ++i) {
    const std::size_t before = links[i].before;
    result[i] = before != nobody && (before == link || result[before]);
  }
  return result;
}

namespace {

// What the releases of a first link, or an interrupt, cause on the core.
struct Work {
  ArrivalCount noticed;
  nanoseconds all;
  nanoseconds above;             // the part of it that preempts the last link
  std::size_t follows = nobody;  // limited by the order of its chain: place in `returns_`
};

class PriorityTest {
 public:
  PriorityTest(const Subchains& core, std::size_t last, bool by_level, Effort& effort)
      : core_(core),
        last_(last),
        first_(core.links[last].first),
        own_(core.demand(first_)),
        noticed_(own_.noticed()),
        by_level_(by_level),
        effort_(effort) {
    const Demand& demand = core.demand(last);
    const std::vector<std::size_t> path = core.path(last);
    if (by_level) {
      floor_ = demand.level;
      for (const std::size_t link : path) {
        floor_ = std::min(floor_, core.demand(link).level);
      }
      threshold_ = std::max(demand.level, demand.ceiling);
      keeps_core_ = threshold_ > demand.level;
    }
    add_own_messages(demand);
    add_links(path);
    add_blocking();
  }

  Response run() {
    Response result{
        .bound = {}, .blocking = blocking_, .by = ordered_ ? By::subchain_messages : By::subchain};
    const bool begins = effort_.spend(3 * core_.links.size());
    const auto busy =
        begins && bounded_ && share_ <= core_.supply.rate() ? busy_period() : std::nullopt;
    if (!busy) {
      return result;
    }
    nanoseconds worst{0};
    bool limited = false;
    const std::vector<nanoseconds> beginnings = returns_->beginnings(*busy, effort_);
    for (nanoseconds at{0}; at < *busy;) {
      const std::int64_t jobs = own_.releases.closed(at);
      for (const nanoseconds begin : beginnings) {
        if (begin.count() > 0 && *busy - at - begin <= worst) {
          break;  // all have ended by then
        }
        returns_->begin_at(begin);
        blocking_ = returns_->blocks() ? longest_blocking_ : blocking_by_others_;
        limited = limited || blocking_ < longest_blocking_;
        const auto end = finish(jobs);
        if (!end) {
          return result;
        }
        worst = std::max(worst, *end - at - begin);
        limited = limited || is_limited(*end, jobs);
      }
      at = own_.releases.time(jobs);
    }
    result.bound = worst + own_.lag;
    if (limited) {
      result.by = ordered_ ? By::subchain_messages_returns : By::subchain_returns;
    }
    return result;
  }

 private:
  [[nodiscard]] bool is_high(std::size_t link) const { return core_.demand(link).level >= floor_; }

  // What a link is for the unit.
  struct Role {
    bool high = false;     // reached from the first of its subchain over none below the floor
    bool above = false;    // the same over none that does not preempt the last link
    bool now = false;      // the release of the path's own first job may bring one of it in time
    bool later = false;    // a job of it may run for a later job of the first link
    bool behind = false;   // it follows the last link
    bool ordered = false;  // a later message leads to it, and it comes after the path's own
  };

  // By place on the path: what comes after its job runs only before a link after it with no higher
  // level, for until then one of these is ready (the rule of PiCAS, Choi et al. 2021, if levels
  // rise along the chain).
  [[nodiscard]] std::vector<sched::Level> least_levels(std::span<const std::size_t> path) const {
    std::vector<sched::Level> least(path.size(), floor_);
    sched::Level level = core_.demand(last_).level;
    for (std::size_t place = path.size(); by_level_ && place-- > 0;) {
      least[place] = level;
      level = std::min(level, core_.demand(path[place]).level);
    }
    return least;
  }

  [[nodiscard]] Role role(std::size_t i, const std::vector<Role>& roles, const LaterJobs& order,
                          const std::vector<sched::Level>& least) const {
    const std::size_t before = core_.links[i].before;
    const sched::Level level = core_.demand(i).level;
    const bool first = before == nobody;
    Role result{.high = (first || roles[before].high) && level >= floor_,
                .above = (first || roles[before].above) && level > threshold_};
    if (core_.links[i].first == first_) {
      const std::size_t place = order.place(i);
      const bool in_time = place + 1 < least.size() && level >= least[place];
      result.behind = !first && (before == last_ || roles[before].behind);
      result.later = (first || roles[before].later) && in_time;
      result.ordered = order.later_message(i) && !in_time;
      result.now = first || (roles[before].now && !result.behind && !result.ordered);
    }
    return result;
  }

  void add_links(std::span<const std::size_t> path) {
    const std::vector<sched::Level> least = least_levels(path);
    const LaterJobs order{path, core_.links.size(),
                          [&](std::size_t i) { return core_.links[i].before; },
                          [&](std::size_t i) { return core_.demand(i).task; }};
    std::vector<Role> roles;
    roles.reserve(core_.links.size());
    std::vector<nanoseconds> all(core_.links.size());
    std::vector<nanoseconds> preempts(core_.links.size());
    for (std::size_t i = 0; i < core_.links.size(); ++i) {
      roles.push_back(role(i, roles, order, least));
      if (core_.links[i].first == first_) {
        add_own(core_.demand(i), roles.back());
      } else if (roles.back().high) {
        all[core_.links[i].first] += core_.demand(i).execution;
        preempts[core_.links[i].first] +=
            roles.back().above ? core_.demand(i).execution : nanoseconds{0};
      }
    }
    add_share(own_.releases, each_ + after_);
    returns_.emplace(core_,
                     SubchainUnit{.last = last_, .by_level = by_level_, .threshold = threshold_});
    for (std::size_t i = 0; i < core_.links.size(); ++i) {
      if (all[i].count() > 0) {
        add_other(core_.demand(i), all[i], preempts[i], returns_->place(i));
      }
    }
    for (const Demand* const interrupt : core_.interrupts) {
      add_other(*interrupt, interrupt->execution, interrupt->execution, nobody);
    }
  }

  void add_own(const Demand& demand, const Role& role) {
    if (role.high) {
      ordered_ = ordered_ || (role.ordered && demand.execution.count() > 0);
      (role.now ? each_ : after_) += demand.execution;
    }
    if (role.later) {
      later_ += demand.execution;
      later_above_ += demand.level > threshold_ ? demand.execution : nanoseconds{0};
    }
  }

  // Messages that a job of the last link publishes before it has ended release who preempts it.
  void add_own_messages(const Demand& last) {
    const std::vector<bool> within = core_.within(last_, [&](const Demand& other) {
      return other.level > std::max(last.level, last.ceiling);
    });
    for (std::size_t i = 0; i < within.size(); ++i) {
      within_ += within[i] ? core_.demand(i).execution : nanoseconds{0};
    }
  }

  void add_share(const Arrivals& releases, nanoseconds execution) {
    bounded_ = bounded_ && releases.period.count() > 0;
    share_ += static_cast<double>(execution.count()) /
              std::max(1.0, static_cast<double>(releases.period.count()));
  }

  void add_other(const Demand& demand, nanoseconds all, nanoseconds above, std::size_t follows) {
    others_.push_back({.noticed = ArrivalCount{demand.noticed()},
                       .all = all,
                       .above = above,
                       .follows = follows});
    add_share(demand.releases, all);
  }

  // One job below the floor may run at the beginning: its ceiling holds others up, or it ends just
  // then. The links that its end releases follow.
  void add_blocking() {
    longest_blocking_ = blocking_by_others_ = core_.late_notice;
    std::vector<nanoseconds> follow(core_.links.size());
    for (std::size_t i = core_.links.size(); i-- > 0;) {
      const Demand& demand = core_.demand(i);
      if (!is_high(i)) {
        const bool holds = demand.ceiling >= floor_ && demand.execution.count() > 0;
        const nanoseconds blocks =
            follow[i] + core_.late_notice +
            (holds ? demand.execution - core_.supply.head_start() : nanoseconds{0});
        longest_blocking_ = std::max(longest_blocking_, blocks);
        if (!returns_->leads(i) || follow[i].count() > 0) {
          blocking_by_others_ = std::max(blocking_by_others_, blocks);
        }
      } else if (core_.links[i].before != nobody) {
        follow[core_.links[i].before] += demand.execution + follow[i];
      }
    }
    blocking_ = longest_blocking_;
    if (blocking_by_others_ < longest_blocking_) {
      returns_->block(longest_blocking_ - core_.late_notice);
    }
  }

  // In [0, window], of one of the others; `jobs`: those up to the one that is looked at, or all.
  [[nodiscard]] std::int64_t count(const Work& other, nanoseconds window,
                                   std::int64_t jobs) const noexcept {
    const std::int64_t noticed = other.noticed.closed(window);
    return other.follows == nobody ? noticed
                                   : std::min(noticed, returns_->most(other.follows, jobs));
  }
  [[nodiscard]] bool is_limited(nanoseconds end, std::int64_t jobs) const noexcept {
    return std::ranges::any_of(others_, [&](const Work& other) {
      return other.follows != nobody &&
             returns_->most(other.follows, jobs) < other.noticed.closed(end - nanoseconds{1});
    });
  }

  // What is done in [0, window], or [0, window), besides the jobs up to the one that is looked at.
  [[nodiscard]] nanoseconds interference(nanoseconds window, std::int64_t jobs) const noexcept {
    nanoseconds sum{0};
    for (const Work& other : others_) {
      sum += count(other, window, jobs) * other.all;
    }
    return sum + std::max<std::int64_t>(0, noticed_.closed(window) - jobs) * later_;
  }
  [[nodiscard]] nanoseconds preemptions(nanoseconds window, std::int64_t jobs) const noexcept {
    nanoseconds sum{0};
    for (const Work& other : others_) {
      sum += count(other, window, jobs) * other.above;
    }
    return sum + std::max<std::int64_t>(0, noticed_.closed(window) - jobs) * later_above_;
  }

  // The least t in which the core provides work + done(t).
  template <class Done>
  std::optional<nanoseconds> fixpoint(nanoseconds work, nanoseconds from, Done done,
                                      bool starts = false) {
    for (nanoseconds time = from;;) {
      if (!effort_.spend(others_.size() + 1)) {
        return {};
      }
      const nanoseconds sum = work + done(time);
      const nanoseconds next = starts ? core_.supply.start_after(sum) : core_.supply.time_for(sum);
      if (next <= time) {
        return time;
      }
      time = next;
    }
  }

  std::optional<nanoseconds> busy_period() {
    constexpr nanoseconds tick{1};
    return fixpoint(blocking_, blocking_ + each_, [&](nanoseconds time) {
      return interference(time - tick, Returns::all_jobs) +
             noticed_.closed(time - tick) * (each_ + after_);
    });
  }

  // Jobs before the one that is looked at bring all of their links.
  std::optional<nanoseconds> finish(std::int64_t jobs) {
    constexpr nanoseconds tick{1};
    const nanoseconds work = blocking_ + jobs * each_ + (jobs - 1) * after_;
    if (!keeps_core_) {
      return fixpoint(work + within_, work + within_,
                      [&](nanoseconds time) { return interference(time - tick, jobs); });
    }
    const nanoseconds own = core_.demand(last_).execution;
    const auto start = fixpoint(
        work - own, work - own, [&](nanoseconds time) { return interference(time, jobs); }, true);
    if (!start) {
      return {};
    }
    const nanoseconds before =
        work + within_ + interference(*start, jobs) - preemptions(*start, jobs);
    return fixpoint(before, *start + own,
                    [&](nanoseconds time) { return preemptions(time - tick, jobs); });
  }

  const Subchains& core_;
  std::size_t last_;
  std::size_t first_;
  const Demand& own_;
  ArrivalCount noticed_;
  bool by_level_;
  Effort& effort_;
  sched::Level floor_ = sched::no_ceiling;    // the lowest on the path
  sched::Level threshold_ = interrupt_level;  // the last link is preempted above it
  bool keeps_core_ = false;
  std::vector<Work> others_;
  std::optional<Returns> returns_;
  nanoseconds each_{0};         // up to the last link, with what branches off before
  nanoseconds after_{0};        // behind the last link, or for later messages
  nanoseconds within_{0};       // the part of it that may run before the last link has ended
  nanoseconds later_{0};        // what a later job of the first link brings
  nanoseconds later_above_{0};  // the part of it that preempts the last link
  nanoseconds longest_blocking_{0};
  nanoseconds blocking_by_others_{0};  // without those that have led to the unit
  nanoseconds blocking_{0};            // one of the two
  double share_ = 0;
  bool bounded_ = true;
  bool ordered_ = false;  // later messages come after the path's own
};

}  // namespace

Response subchain_by_priority(const Subchains& core, std::size_t last, bool by_level,
                              Effort& effort) {
  return PriorityTest{core, last, by_level, effort}.run();
}

}  // namespace takt::analysis
