// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>

#include "arrival_count.hpp"
#include "later_jobs.hpp"
#include "subchain_others.hpp"
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

class PriorityTest {
 public:
  PriorityTest(const Subchains& core, std::size_t last, bool by_level, Effort& effort)
      : core_(core),
        last_(last),
        first_(core.links[last].first),
        own_(core.demand(first_)),
        noticed_(own_.noticed()),
        by_level_(by_level),
        effort_(&effort),
        others_(core.links[first_].root, core.links.size() + core.interrupts.size()) {
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

  SubchainBounds run(Effort& more) {
    SubchainBounds result;
    const bool begins = effort_->spend(3 * core_.links.size());
    auto busy = begins && bounded_ && share_ <= core_.supply.rate() ? busy_period() : std::nullopt;
    if (!busy) {
      return result;
    }
    result.from_first = from_first(*busy);
    effort_ = &more;
    if (others_.keep_apart() && effort_->spend(1)) {
      busy = busy_period();
      const Response less = busy ? from_first(*busy) : Response{};
      if (less.bound && (!result.from_first.bound || *less.bound < *result.from_first.bound)) {
        result.from_first = less;
      }
    }
    if (busy && has_root() && !is_root()) {
      result.from_root = from_root(*busy);
    }
    return result;
  }

 private:
  [[nodiscard]] bool has_root() const {
    const SubchainLink& first = core_.links[first_];
    return first.root != nullptr && first.until_noticed && first.root->period.count() > 0;
  }
  [[nodiscard]] bool is_root() const { return core_.links[first_].root == &own_.releases; }

  Response from_first(nanoseconds busy) {
    const SubchainLink& first = core_.links[first_];
    returns_->come_at(is_root() && has_root() ? *first.until_noticed : first.from_root);
    return longest(busy, own_.releases, noticed_.open(busy), own_.lag);
  }

  // No less than the latest notice and from_first(), where this does not depend on how late the
  // first job is.
  Response from_root(nanoseconds busy) {
    const SubchainLink& first = core_.links[first_];
    const std::int64_t jobs = noticed_.open(busy);
    if (jobs <= 1 && !returns_->any()) {
      return {};
    }
    returns_->come_at(*first.until_noticed);
    return longest(busy, *first.root, jobs, *first.until_noticed);
  }

  // Of the first `most` jobs in the busy period: from their events, of which the first one is
  // `after` before its job is noticed, to their ends.
  Response longest(nanoseconds busy, const Arrivals& events, std::int64_t most, nanoseconds after) {
    Response result{.bound = {},
                    .blocking = longest_blocking_,
                    .by = ordered_ ? By::subchain_messages : By::subchain};
    Worst worst;
    const std::vector<nanoseconds> beginnings = returns_->beginnings(busy, *effort_);
    for (std::int64_t before = 0; before < most;) {
      const nanoseconds at = events.time(before);
      const std::int64_t jobs = events.closed(at);
      for (const nanoseconds begin : beginnings) {
        if (begin.count() > 0 && busy - at - begin <= worst.time) {
          break;  // all have ended by then
        }
        if (!follow(jobs, at, begin, worst)) {
          return result;
        }
      }
      before = jobs;
    }
    result.bound = worst.time + after;
    if (worst.apart) {
      result.by = By::subchain_parts;
    } else if (worst.limited) {
      result.by = ordered_ ? By::subchain_messages_returns : By::subchain_returns;
    }
    return result;
  }

  struct Worst {
    nanoseconds time{0};   // from an event to the end of its job
    bool apart = false;    // by parts of other chains that are kept apart
    bool limited = false;  // by what the own chain leads to, or from
  };

  // Job number `jobs`, whose event comes `at` after that of the first one, which comes `begin`
  // after the beginning of the busy period. False if `effort` is used up.
  bool follow(std::int64_t jobs, nanoseconds at, nanoseconds begin, Worst& worst) {
    returns_->begin_at(begin);
    blocking_ = returns_->blocks() ? longest_blocking_ : blocking_by_others_;
    worst.limited = worst.limited || blocking_ < longest_blocking_;
    for (std::size_t way = 0; way < others_.ways(); ++way) {
      others_.choose(way);
      const auto end = finish(jobs);
      if (!end) {
        return false;
      }
      if (*end - at - begin > worst.time) {
        worst.time = *end - at - begin;
        worst.apart = others_.are_apart(*end, jobs, *returns_);
      }
      worst.limited = worst.limited || others_.follow(*end, jobs, *returns_);
    }
    return true;
  }

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
    std::vector<bool> high;
    high.reserve(roles.size());
    std::ranges::transform(roles, std::back_inserter(high), &Role::high);
    returns_.emplace(
        core_, SubchainUnit{.last = last_, .by_level = by_level_, .threshold = threshold_}, high);
    for (std::size_t i = 0; i < core_.links.size(); ++i) {
      if (all[i].count() > 0) {
        add_share(core_.demand(i).releases, all[i]);
        others_.add({.noticed = ArrivalCount{core_.demand(i).noticed()},
                     .all = all[i],
                     .above = preempts[i],
                     .follows = returns_->place(i)},
                    core_.links[i], latest_there(core_, i, high));
      }
    }
    for (const Demand* const interrupt : core_.interrupts) {
      add_share(interrupt->releases, interrupt->execution);
      others_.add({.noticed = ArrivalCount{interrupt->noticed()},
                   .all = interrupt->execution,
                   .above = interrupt->execution});
    }
    others_.complete();
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

  // Of what comes in [0, start], and of that which preempts the last link, in [0, end], besides the
  // jobs up to the one that is looked at.
  nanoseconds interference(nanoseconds start, nanoseconds end, std::int64_t jobs) noexcept {
    const auto later = [&](nanoseconds window) {
      return std::max<std::int64_t>(0, noticed_.closed(window) - jobs);
    };
    return others_.done(start, end, jobs, *returns_) + later(start) * (later_ - later_above_) +
           later(end) * later_above_;
  }
  nanoseconds interference(nanoseconds window, std::int64_t jobs) noexcept {
    return interference(window, window, jobs);
  }

  // The least t in which the core provides work + done(t).
  template <class Done>
  std::optional<nanoseconds> fixpoint(nanoseconds work, nanoseconds from, Done done,
                                      bool starts = false) {
    others_.begin();
    for (nanoseconds time = from;;) {
      if (!effort_->spend(others_.effort() + 1)) {
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
    others_.choose_any();
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
    return fixpoint(work + within_, *start + own,
                    [&](nanoseconds time) { return interference(*start, time - tick, jobs); });
  }

  const Subchains& core_;
  std::size_t last_;
  std::size_t first_;
  const Demand& own_;
  ArrivalCount noticed_;
  bool by_level_;
  Effort* effort_;
  sched::Level floor_ = sched::no_ceiling;    // the lowest on the path
  sched::Level threshold_ = interrupt_level;  // the last link is preempted above it
  bool keeps_core_ = false;
  Others others_;
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

SubchainBounds subchain_by_priority(const Subchains& core, std::size_t last, bool by_level,
                                    Effort& effort, Effort& more) {
  return PriorityTest{core, last, by_level, effort}.run(more);
}

}  // namespace takt::analysis
