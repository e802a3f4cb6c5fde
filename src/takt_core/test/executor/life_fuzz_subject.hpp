// SPDX-License-Identifier: Apache-2.0
//
// What the life-cycle fuzz drives: an executor behind one function for each operation, and the
// tasks that come and go on it, which check themselves while they run.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "takt/executor/executor.hpp"
#include "takt/os/clock.hpp"
#include "takt/sched/error.hpp"

namespace takt::fuzz {

using namespace std::chrono_literals;
using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t limit) {
  return std::uniform_int_distribution<std::uint64_t>{0, limit - 1}(random);
}
inline bool one_in(Random& random, std::uint64_t number) {
  return below(random, number) == 0;
}

// What the whole run has done; printed at its end.
struct Counts {
  std::atomic<std::uint64_t> rounds{0}, starts{0}, stops{0}, adds{0}, removes{0}, refused{0},
      switches{0}, pauses{0}, settings{0}, strategies{0}, batches{0}, from_callbacks{0},
      notifications{0}, lost{0}, jobs{0};
};

// Which run it is, for whoever has to repeat it.
inline std::atomic<std::uint64_t> seed_of_round{0};

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed_of_round.load()),
               what.c_str());
  std::abort();  // sanitizers and debuggers show where everybody is
}

inline void check(bool holds, const std::string& task, const char* what) {
  if (!holds) {
    fail("task '" + task + "' " + what);
  }
}

// An operation that lasts longer than this never ends.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A sanitizer's own spin lock may never be given back by a thread that is preempted for good.
inline constexpr bool sanitized = true;
inline constexpr auto patience = 100s;
#else
inline constexpr bool sanitized = false;
inline constexpr auto patience = 60s;
#endif

// Ends the process unless destroyed in time.
class Limit {
 public:
  explicit Limit(std::string what)
      : watch_{[this, text = std::move(what)] {
          if (!over_.wait_until(os::now() + patience)) {
            fail(text + " does not return");
          }
        }} {}
  ~Limit() {
    over_.notify();
    watch_.join();
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  Limit(Limit&&) = delete;
  Limit& operator=(Limit&&) = delete;

 private:
  os::Event over_;
  std::thread watch_;
};

// A task, and what was seen of it. Lives longer than the executor.
struct Guest {
  sched::Task task;
  std::size_t queue = 16;
  std::chrono::nanoseconds work{0};
  bool named = false;                    // by a scenario
  bool always_active = true;             // in every scenario
  std::atomic<int>* in_group = nullptr;  // jobs of the group that run
  std::function<void()> meanwhile = {};  // what its callback does to the executor

  executor::AddedTask added = {};
  std::atomic<bool> present{false};    // add() has returned, and nobody has begun to remove it
  std::atomic<bool> leaves{false};     // its removal has begun
  std::atomic<bool> removed{false};    // ... and is over
  std::atomic<bool> left_alone{true};  // nobody has paused it or set its timer
  std::atomic<bool> running{false};
  std::atomic<std::uint64_t> runs{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::int64_t> ran_as{-1};
  std::uint64_t next_index = 0;
  std::uint64_t start = 0;  // of the executor, whose releases count from 0 each time

  [[nodiscard]] bool by_messages() const { return task.kind == sched::TaskKind::message; }

  void run(const sched::Job& job, std::uint64_t starts) {
    check(!removed, task.name, "runs after its removal");
    check(!running.exchange(true), task.name, "runs twice at once");
    next_index = starts == start ? next_index : 0;
    start = starts;
    check(job.index >= next_index, task.name, "runs for a release that is over");
    next_index = job.index + 1;
    ran_as = job.task;
    if (in_group != nullptr) {
      check(in_group->fetch_add(1) == 0, task.name, "runs while another one of its group does");
    }
    const auto end = os::now() + work;
    if (meanwhile) {
      meanwhile();
    }
    while (os::now() < end) {
    }
    if (in_group != nullptr) {
      --*in_group;
    }
    check(!removed, task.name, "runs on after its removal");
    running = false;
    ++runs;
  }
};

// The executor: one function for each operation. Those that can be refused say whether they were
// not.
class Subject {
 public:
  Subject(executor::Options options, Counts& counts)
      : executor_{std::move(options)}, counts_(counts) {}

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
    return {.callback =
                [this, &guest, part](const sched::Job& job) {
                  guest.run(job, starts_);
                  for (const int one : part) {
                    check(one == 1, guest.task.name, "has lost its callback");
                  }
                },
            .queue = guest.queue};
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
      ++counts_.batches;
    });
    if (!done) {
      going.leaves = false;
      going.present = true;
    }
    return done;
  }

  void pause(Guest& guest, bool paused) {
    guest.left_alone = false;
    change("pause('" + guest.task.name + "')", [&] {
      static_cast<void>(paused ? executor_.pause(guest.task.name)
                               : executor_.resume(guest.task.name));
      ++counts_.pauses;
    });
  }

  void set_timer(Guest& guest, bool armed) {
    guest.left_alone = false;
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

 private:
  std::atomic<std::uint64_t> starts_{0};
  executor::Executor executor_;  // before it, what its callbacks use
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
    third.add_task({.task = named[i], .active = i != 3});
  }
  return sched::SchedulingStrategy{}
      .add_scenario(sched::SchedulingScenario{scenarios[0]})
      .add_scenario(second)
      .add_scenario(third);
}

}  // namespace takt::fuzz
