// SPDX-License-Identifier: Apache-2.0
#include "lock_blocking.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "../application/locks.hpp"

namespace takt::analysis {
namespace {

using application::LockProtocol;

// The levels that may wait because a lock is held. Whoever takes it while it holds another one
// keeps those waiting that wait for the other one, too.
std::vector<sched::Level> reaches(const application::Application& application,
                                  const sched::Ceilings& levels) {
  std::vector<sched::Level> result = application::lock_ceilings(application, levels);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    for (const auto& section : application.callbacks[i].critical_sections) {
      // Who holds a group keeps up to its ceiling from the core while it waits itself.
      result[section.lock] =
          std::max(result[section.lock], levels.ceiling(static_cast<sched::TaskIndex>(i)));
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const application::Callback& callback : application.callbacks) {
      const auto around = application::enclosing(callback.critical_sections);
      for (std::size_t i = 0; i < around.size(); ++i) {
        sched::Level& inner = result[callback.critical_sections[i].lock];
        for (const std::size_t outer : around[i]) {
          const sched::Level before = inner;
          inner = std::max(inner, result[callback.critical_sections[outer].lock]);
          changed = changed || inner != before;
        }
      }
    }
  }
  return result;
}

// How long a request for a lock across cores waits, at most.
class Waiting {
 public:
  Waiting(const application::Application& application, const sched::CompiledStrategy& strategy)
      : application_{application}, strategy_{strategy} {
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      ++jobs_[cpu(i)];
    }
    for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
      const nanoseconds noticed = jobs_[cpu(i)] * application.overheads.release;
      for (const auto& section : application.callbacks[i].critical_sections) {
        nanoseconds& longest = longest_[section.lock][cpu(i)];
        longest = std::max(longest, section.longest + noticed);
        takers_[section.lock].insert(cpu(i));
        nanoseconds& held = held_[i];
        held = std::max(held, section.longest + noticed + around());
      }
    }
  }

  // Spinning: for one section of each other core.
  [[nodiscard]] nanoseconds spinning(std::size_t lock, std::size_t callback) const {
    nanoseconds sum{0};
    for (const auto& [other, longest] : longest_.at(lock)) {
      sum = other == cpu(callback) ? sum : os::add_sat(sum, longest);
    }
    return sum;
  }

  // Without the core: for one section of each callback on a core of those who take the lock. Its
  // own core is one of them. Of each less urgent callback there that is one which asked before, or
  // while this request waited and comes when the lock has been left: whoever asked before it, and
  // has left its section, asks again only while a later request waits.
  [[nodiscard]] nanoseconds without_core(std::size_t lock, std::size_t callback) const {
    nanoseconds sum = around();
    for (const auto& [other, held] : held_) {
      if (other != callback && takers_.at(lock).contains(cpu(other))) {
        sum = os::add_sat(sum, held);
      }
    }
    return sum;
  }

  // What it costs that a holder takes the core from another job.
  [[nodiscard]] nanoseconds around() const { return 2 * application_.overheads.preemption; }

 private:
  [[nodiscard]] int cpu(std::size_t callback) const { return strategy_.tasks()[callback].cpu; }
  const application::Application& application_;
  const sched::CompiledStrategy& strategy_;
  std::map<int, std::int64_t> jobs_;                           // by core
  std::map<std::size_t, std::map<int, nanoseconds>> longest_;  // by lock and core
  std::map<std::size_t, std::set<int>> takers_;                // their cores, by lock
  std::map<std::size_t, nanoseconds> held_;                    // the longest section, by callback
};

}  // namespace

bool anyone_locks(std::span<const Demand> demands) noexcept {
  return std::ranges::any_of(demands,
                             [](const Demand& demand) { return !demand.sections.empty(); });
}

nanoseconds blocking_by_locks(std::span<const Demand> demands, sched::Level level,
                              nanoseconds ceilings) {
  std::map<std::size_t, nanoseconds> by_task;
  std::map<std::size_t, nanoseconds> by_lock;
  std::map<std::size_t, nanoseconds> first_by_task;
  std::map<std::size_t, nanoseconds> any_by_task;  // of all kinds
  for (const Demand& demand : demands) {
    if (demand.level >= level) {
      continue;
    }
    nanoseconds& any = any_by_task[demand.task];
    if (demand.ceiling >= level) {
      any = std::max(any, demand.execution);
    }
    for (const Section& section : demand.sections) {
      if (section.reach < level) {
        continue;
      }
      any = std::max(any, section.length);
      if (section.by_ceiling) {
        ceilings = std::max(ceilings, section.length);
        continue;
      }
      if (section.first) {
        nanoseconds& of_first = first_by_task[demand.task];
        of_first = std::max(of_first, section.length);
        continue;
      }
      nanoseconds& of_task = by_task[demand.task];
      nanoseconds& of_lock = by_lock[section.lock];
      of_task = std::max(of_task, section.length);
      of_lock = std::max(of_lock, section.length);
    }
  }
  const auto sum = [](const std::map<std::size_t, nanoseconds>& parts) {
    nanoseconds all{0};
    for (const auto& [of, length] : parts) {
      all = os::add_sat(all, length);
    }
    return all;
  };
  const nanoseconds by_kind =
      os::add_sat(os::add_sat(ceilings, sum(first_by_task)), std::min(sum(by_task), sum(by_lock)));
  return std::min(by_kind, sum(any_by_task));
}

nanoseconds within_sections(const Demand& demand, sched::Level level) noexcept {
  nanoseconds sum{0};
  for (const Section& section : demand.sections) {
    bool counts = section.reach >= level;
    for (auto outer = section.around_it; outer; outer = demand.sections[*outer].around_it) {
      counts = counts && demand.sections[*outer].reach < level;
    }
    sum = counts ? os::add_sat(sum, section.length) : sum;
  }
  return std::min(sum, demand.execution);
}

std::vector<std::size_t> blocking_locks(std::span<const Demand> demands, sched::Level level) {
  std::set<std::size_t> locks;
  for (const Demand& demand : demands) {
    for (const Section& section : demand.sections) {
      if (demand.level < level && section.reach >= level) {
        locks.insert(section.lock);
      }
    }
  }
  return {locks.begin(), locks.end()};
}

std::vector<std::vector<Section>> sections_of(const application::Application& application,
                                              const sched::CompiledStrategy& strategy,
                                              const sched::CompiledScenario& scenario) {
  std::vector<std::vector<Section>> result(application.callbacks.size());
  if (!scenario.policy().preemptive() || application.locks.empty()) {
    return result;
  }
  const std::vector<sched::Level> by_inheritance = reaches(application, scenario.ceilings());
  const std::vector<sched::Level> by_ceiling =
      application::lock_ceilings(application, scenario.ceilings());
  const Waiting waiting{application, strategy};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto& sections = application.callbacks[i].critical_sections;
    const auto around = application::enclosing(sections);
    for (std::size_t at = 0; at < sections.size(); ++at) {
      const LockProtocol protocol = application.locks[sections[at].lock].protocol;
      const bool across = application::goes_across_cores(protocol);
      const bool ceiling = protocol == LockProtocol::ceiling || across;
      const bool spins = protocol == LockProtocol::spin;
      std::int64_t inside = 0;
      for (const auto& outer : around) {
        inside += std::ranges::count(outer, at);
      }
      Section section{
          .lock = sections[at].lock,
          .reach = ceiling ? by_ceiling[sections[at].lock] : by_inheritance[sections[at].lock],
          .declared = sections[at].longest,
          // It may have been preempted before anybody waits for it, and where it
          // takes a lock that is held two jobs leave the core.
          .around = ceiling ? nanoseconds{0} : (1 + 2 * inside) * application.overheads.preemption,
          .by_ceiling = ceiling && protocol != LockProtocol::fmlp_plus,
          .spins = spins,
          .first = protocol == LockProtocol::fmlp_plus,
          .around_it = around[at].empty() ? std::nullopt : std::optional{around[at].back()}};
      if (spins) {
        section.waiting = waiting.spinning(section.lock, i);
      } else if (section.first) {
        section.waiting = waiting.without_core(section.lock, i);
        section.around = waiting.around();
      }
      result[i].push_back(section);
    }
  }
  return result;
}

}  // namespace takt::analysis
