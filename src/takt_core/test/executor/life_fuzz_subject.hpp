// SPDX-License-Identifier: Apache-2.0
//
// What the life-cycle fuzz drives: an executor behind one function for each operation.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "life_fuzz_guest.hpp"
#include "takt/sched/error.hpp"

namespace takt::fuzz {

// The executor: one function for each operation. Those that can be refused say whether they were
// not.
class Subject {
 public:
  Subject(executor::Options options, Ledger& ledger, Counts& counts)
      : executor_{std::move(options)}, ledger_(ledger), counts_(counts) {}

  // Refused while it is started, and where a scenario names a task that went while it was not.
  bool start() {
    const Limit limit{"start()"};
    ++starts_;
    try {
      executor_.start();
    } catch (const std::logic_error&) {
      return false;
    } catch (const sched::ScheduleError&) {
      return false;
    }
    ++counts_.starts;
    return true;
  }

  void request_stop() { executor_.request_stop(); }

  void stop() {
    const Limit limit{"stop()"};
    executor_.stop();
    ++counts_.stops;
  }

  // Anything that changes tasks; callbacks do not wait for it.
  template <typename Body>
  bool change(const std::string& what, Body body) {
    const Limit limit{what};
    try {
      body();
    } catch (const sched::ScheduleError&) {
      ++counts_.refused;
      return false;
    }
    return true;
  }

  // Refused where it names a task that went.
  bool set_strategy(sched::SchedulingStrategy strategy) {
    return change("set_scheduling_strategy()", [&] {
      executor_.set_scheduling_strategy(std::move(strategy));
      ++counts_.strategies;
    });
  }

  [[nodiscard]] executor::Binding binding(Guest& guest) {
    // Part of the callback, and used by it: a sanitizer sees when it is destroyed too early.
    const std::vector<int> part(64, 1);
    const auto run = [this, &guest, part](const sched::Job& job) {
      guest.run(job, starts_, ledger_);
      for (const int one : part) {
        check(one == 1, guest.task.name, "has lost its callback");
      }
    };
    if (!guest.is_source) {
      return {.callback = run, .queue = guest.queue};
    }
    const auto ask = [this, &guest](const executor::ReleaseHandle& release) {
      armed(guest, release);
    };
    return {.queue = guest.queue, .source = std::make_shared<Source>(guest, run, ask)};
  }

  bool add(Guest& guest) {
    return change("add('" + guest.task.name + "')", [&] {
      guest.added = executor_.add(guest.task, binding(guest));
      guest.present = true;
      ++counts_.adds;
    });
  }

  bool remove(Guest& guest, bool waits) {
    guest.leaves = true;
    const bool done = change("remove('" + guest.task.name + "')", [&] {
      const executor::Change change = executor_.remove(guest.task.name);
      if (waits) {
        change.wait();
        guest.removed = true;
        ledger_.removed(guest.task.name, os::now());
      }
      ++counts_.removes;
    });
    if (!done) {  // a scenario names it
      guest.leaves = false;
      guest.present = true;
    }
    return done;
  }

  // One goes and another one comes, in one step.
  bool exchange(Guest& going, Guest& coming) {
    going.leaves = true;
    const bool done = change("apply()", [&] {
      executor::Changes changes;
      changes.remove(going.task.name).add(coming.task, binding(coming));
      const auto applied = executor_.apply(std::move(changes));
      coming.added = applied.added.front();
      coming.present = true;
      applied.change.wait();
      going.removed = true;
      ledger_.removed(going.task.name, os::now());
      ++counts_.batches;
    });
    if (!done) {
      going.leaves = false;
      going.present = true;
    }
    return done;
  }

  void pause(Guest& guest, bool paused) {
    guest.undisturbed = false;
    change("pause('" + guest.task.name + "')", [&] {
      static_cast<void>(paused ? executor_.pause(guest.task.name)
                               : executor_.resume(guest.task.name));
      ++counts_.pauses;
    });
  }

  void set_timer(Guest& guest, bool armed) {
    guest.undisturbed = false;
    static_cast<void>(armed ? guest.added.release.release_at(os::now() + 200us)
                            : guest.added.release.disarm());
    ++counts_.settings;
  }

  bool notify(Guest& guest) {
    const bool accepted = guest.added.release.notify();
    ++(accepted ? guest.accepted : guest.refused);
    ++(accepted ? counts_.notifications : counts_.lost);
    return accepted;
  }

  void switch_to(const std::string& scenario) {
    if (!executor_.switch_to(scenario)) {
      fail("there is no scenario '" + scenario + "' any more");
    }
    ++counts_.switches;
  }

  [[nodiscard]] executor::TaskStatistics statistics(const Guest& guest) const {
    return executor_.statistics(guest.added.index);
  }

  // What anybody may ask at any time.
  void ask(const std::string& task) {
    const Limit limit{"a question about '" + task + "'"};
    const auto index = executor_.find(task);
    check(!index || *index < executor_.task_count(), task, "has an index beyond all tasks");
    static_cast<void>(index ? executor_.statistics(*index).completed : 0);
    check(!executor_.scenario().empty(), task, "is asked about, and there is no scenario");
    static_cast<void>(executor_.not_granted().size());
    ++counts_.asks;
  }

  [[nodiscard]] std::uint64_t starts() const { return starts_; }

 private:
  void armed(Guest& guest, const executor::ReleaseHandle& release) {
    ask(guest.task.name);
    if (guest.by_messages()) {
      ++(release.notify() ? guest.accepted : guest.refused);
    }
  }

  std::atomic<std::uint64_t> starts_{0};
  executor::Executor executor_;  // before it, what its callbacks use
  Ledger& ledger_;
  Counts& counts_;
};

inline const std::vector<std::string> scenarios{"first", "second", "third"};

// Whichever: who of the `named` is active in which scenario stays. No policy: the executor's.
inline sched::SchedulingStrategy some_strategy(Random& random,
                                               const std::vector<std::string>& named,
                                               const sched::PolicyPtr& policy_of_third) {
  sched::SchedulingScenario second{scenarios[1]};
  sched::SchedulingScenario third{scenarios[2]};
  if (policy_of_third) {
    third.set_scheduling_policy(policy_of_third);
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    second.add_task(
        {.task = named[i], .priority = static_cast<int>(1 + below(random, 40)), .active = i != 1});
    third.add_task({.task = named[i],
                    .deadline = std::chrono::microseconds{1 + below(random, 900)},
                    .active = i != 3});
  }
  return sched::SchedulingStrategy{}
      .add_scenario(sched::SchedulingScenario{scenarios[0]})
      .add_scenario(second)
      .add_scenario(third);
}

}  // namespace takt::fuzz
