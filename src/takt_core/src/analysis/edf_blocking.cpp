// SPDX-License-Identifier: Apache-2.0
#include "edf_blocking.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace takt::analysis {
namespace {

// Of the jobs up to a level, the shortest time from the noticing to the deadline; twice, for one of
// them may be the blocker itself.
class ShortestUpTo {
 public:
  explicit ShortestUpTo(std::span<const Demand> demands) {
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (!demands[i].interrupt) {
        entries_.push_back(
            {.level = demands[i].level, .first = i, .shortest = time_of(demands[i])});
      }
    }
    std::ranges::sort(entries_, {}, &Entry::level);
    for (std::size_t i = 1; i < entries_.size(); ++i) {
      const Entry& before = entries_[i - 1];
      Entry& entry = entries_[i];
      if (before.shortest <= entry.shortest) {
        entry.others = std::min(before.others, entry.shortest);
        entry.shortest = before.shortest;
        entry.first = before.first;
      } else {
        entry.others = before.shortest;
      }
    }
  }

  [[nodiscard]] nanoseconds without(std::size_t demand, sched::Level level) const {
    const auto end = std::ranges::upper_bound(entries_, level, {}, &Entry::level);
    if (end == entries_.begin()) {
      return never;
    }
    const Entry& entry = *(end - 1);
    return entry.first == demand ? entry.others : entry.shortest;
  }

 private:
  struct Entry {
    sched::Level level;
    std::size_t first;  // whose time is the shortest
    nanoseconds shortest;
    nanoseconds others = never;
  };
  static nanoseconds time_of(const Demand& demand) { return demand.deadline - demand.lag; }

  std::vector<Entry> entries_;
};

// It started before the interval, at least 1 ns, and is due after its end.
nanoseconds blocks_until(const Demand& demand) {
  return demand.deadline - nanoseconds{1};
}

bool can_block(const Demand& demand, nanoseconds head_start) {
  return !demand.interrupt && demand.longest_hold() > head_start;
}

// The heaviest stack of jobs that are due after an interval, above each level.
class Stacks {
 public:
  Stacks(std::span<const Demand> demands, nanoseconds head_start) : head_start_(head_start) {
    for (const Demand& demand : demands) {
      if (can_block(demand, head_start)) {
        demands_.push_back(&demand);
      }
    }
    std::ranges::sort(demands_, {},
                      [](const Demand* demand) { return std::pair{demand->level, demand->task}; });
    grouped_.resize(demands_.size() + 1);
    others_.resize(demands_.size() + 1);
  }

  void look_at(nanoseconds length) {
    grouped_.back() = others_.back() = nanoseconds{0};
    for (std::size_t end = demands_.size(); end > 0;) {
      // Those of one level together.
      std::size_t begin = end - 1;
      while (begin > 0 && demands_[begin - 1]->level == demands_[begin]->level) {
        --begin;
      }
      look_at_level(length, begin, end);
      end = begin;
    }
  }

  [[nodiscard]] nanoseconds above(sched::Level level) const {
    const std::size_t first = first_above(level);
    return grouped_[first] + others_[first];
  }

 private:
  [[nodiscard]] std::size_t first_above(sched::Level level) const {
    return static_cast<std::size_t>(
        std::ranges::upper_bound(demands_, level, {},
                                 [](const Demand* demand) { return demand->level; }) -
        demands_.begin());
  }

  void look_at_level(nanoseconds length, std::size_t begin, std::size_t end) {
    nanoseconds grouped = grouped_[end];
    nanoseconds rigid{0};     // that do not preempt each other: one of them
    nanoseconds flexible{0};  // all of them, each task once
    const Demand* last = nullptr;
    for (std::size_t i = begin; i < end; ++i) {
      const Demand& demand = *demands_[i];
      if (blocks_until(demand) <= length) {
        continue;
      }
      const nanoseconds once = demand.longest_hold() - head_start_;
      if (demand.ceiling != sched::no_ceiling) {
        const sched::Level reach = std::max(demand.level, demand.ceiling);
        grouped = std::max(grouped, once + grouped_[first_above(reach)]);
      } else if (demand.lag.count() == 0 && -demand.level == demand.deadline.count()) {
        rigid = std::max(rigid, once);
      } else if (last == nullptr || last->task != demand.task) {
        flexible += once;
        last = &demand;
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      grouped_[i] = grouped;
      others_[i] = others_[end] + rigid + flexible;
    }
  }

  nanoseconds head_start_;
  std::vector<const Demand*> demands_;  // ascending by level
  std::vector<nanoseconds> grouped_;    // of those from here on, in groups
  std::vector<nanoseconds> others_;     // the same of those that are in none
};

}  // namespace

EdfBlocking::EdfBlocking(std::span<const Demand> demands, bool preemptive, const Supply& supply)
    : head_start_(supply.head_start()) {
  add_holders(demands, preemptive);
  if (preemptive && may_nest(demands)) {
    add_nested_steps(demands);
  } else {
    add_steps();
  }
}

void EdfBlocking::add_holders(std::span<const Demand> demands, bool preemptive) {
  const auto holds = [this, preemptive](const Demand& demand) {
    return can_block(demand, head_start_) && (!preemptive || demand.ceiling != sched::no_ceiling);
  };
  const auto blocks = [&](const Demand& demand) {
    return holds(demand) || (preemptive && !demand.sections.empty());
  };
  if (std::ranges::none_of(demands, blocks)) {
    return;
  }
  const ShortestUpTo shortest{demands};
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Demand& demand = demands[i];
    const auto add = [&](sched::Level ceiling, nanoseconds longest) {
      const Holder holder{.from = shortest.without(i, ceiling),
                          .until = blocks_until(demand),
                          .longest = longest,
                          .ceiling = ceiling};
      if (holder.from < holder.until) {
        holders_.push_back(holder);
      }
    };
    if (holds(demand)) {
      add(preemptive ? demand.ceiling : sched::infinite_ceiling,
          demand.longest_hold() - head_start_);
    }
    for (std::size_t k = 0; preemptive && k < demand.sections.size(); ++k) {
      add(demand.sections[k].reach, demand.sections[k].length);
    }
  }
  std::ranges::sort(holders_, {}, &Holder::from);
}

bool EdfBlocking::may_nest(std::span<const Demand> demands) const {
  if (holders_.empty()) {
    return false;
  }
  // Above each level the one that blocks the longest.
  std::vector<std::pair<sched::Level, nanoseconds>> above;
  for (const Demand& demand : demands) {
    if (can_block(demand, head_start_)) {
      above.emplace_back(demand.level, blocks_until(demand));
    }
  }
  std::ranges::sort(above);
  for (std::size_t i = above.size(); i-- > 1;) {
    above[i - 1].second = std::max(above[i - 1].second, above[i].second);
  }
  return std::ranges::any_of(holders_, [&](const Holder& holder) {
    const auto first = std::ranges::upper_bound(above, holder.ceiling, {},
                                                [](const auto& entry) { return entry.first; });
    return first != above.end() && first->second > holder.from;
  });
}

void EdfBlocking::add_step(nanoseconds from, nanoseconds longest) {
  if (!steps_.empty() && steps_.back().from == from) {
    steps_.back().longest = longest;
  } else {
    steps_.push_back({.from = from, .longest = longest});
  }
}

void EdfBlocking::add_steps() {
  const auto shorter = [](const Holder& a, const Holder& b) { return a.longest < b.longest; };
  std::priority_queue<Holder, std::vector<Holder>, decltype(shorter)> blocking{shorter};
  std::vector<nanoseconds> cuts;
  for (const Holder& holder : holders_) {
    cuts.push_back(holder.from);
    cuts.push_back(holder.until);
  }
  std::ranges::sort(cuts);
  std::size_t next = 0;
  for (const nanoseconds cut : cuts) {
    for (; next < holders_.size() && holders_[next].from <= cut; ++next) {
      blocking.push(holders_[next]);
    }
    while (!blocking.empty() && blocking.top().until <= cut) {
      blocking.pop();
    }
    add_step(cut, blocking.empty() ? nanoseconds{0} : blocking.top().longest);
  }
}

void EdfBlocking::add_nested_steps(std::span<const Demand> demands) {
  std::vector<nanoseconds> cuts;
  cuts.reserve(holders_.size() + demands.size());
  for (const Holder& holder : holders_) {
    cuts.push_back(holder.from);
    cuts.push_back(holder.until);
  }
  for (const Demand& demand : demands) {
    if (can_block(demand, head_start_)) {
      cuts.push_back(blocks_until(demand));
    }
  }
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  Stacks stacks{demands, head_start_};
  for (const nanoseconds cut : cuts) {
    stacks.look_at(cut);
    nanoseconds longest{0};
    for (const Holder& holder : holders_) {
      if (holder.from <= cut && cut < holder.until) {
        longest = std::max(longest, holder.longest + stacks.above(holder.ceiling));
      }
    }
    add_step(cut, longest);
  }
}

nanoseconds EdfBlocking::at(nanoseconds length) const noexcept {
  const auto after = std::ranges::upper_bound(steps_, length, {}, &Step::from);
  return after == steps_.begin() ? nanoseconds{0} : (after - 1)->longest;
}

nanoseconds EdfBlocking::longest() const noexcept {
  nanoseconds longest{0};
  for (const Step& step : steps_) {
    longest = std::max(longest, step.longest);
  }
  return longest;
}

std::vector<nanoseconds> EdfBlocking::changes() const {
  std::vector<nanoseconds> changes;
  changes.reserve(steps_.size());
  for (const Step& step : steps_) {
    changes.push_back(step.from);
  }
  return changes;
}

}  // namespace takt::analysis
