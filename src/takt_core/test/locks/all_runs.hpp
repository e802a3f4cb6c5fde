// SPDX-License-Identifier: Apache-2.0
//
// Every run of a few sporadic callbacks that take locks, tick by tick: each is released a period
// after its last release or any time later, and computes for any time from its best to its worst
// case. Priorities are numbers here, inherited and raised one by one; the library has a stack.
// Under EDF a job begins if it is due first, and before all who share a lock that is held; of those
// that are due at the same time any one. Distinct priorities, constant lengths of sections, no
// overheads. Where a callback waits, its jobs do so after any time of computing in which they hold
// no lock, for any times of their sum. With several scenarios (other priorities) any one may follow
// before each tick: a job has the priority of when it is the first of its callback, a lock the
// ceiling of when it is taken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "situations.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// What is left out on purpose, to see that it is found.
struct LeftOut {
  bool inheritance = false;
  bool ceilings = false;
};

struct AllRuns {
  std::vector<std::int64_t> responses;  // the longest of each callback
  bool complete = true;                 // nothing was left out
  bool waited = false;                  // under EDF some job that had begun, for a lock
};

class LockSearch {
 public:
  // `priorities`: of all callbacks, by scenario.
  LockSearch(const application::Application& app, LeftOut left_out,
             std::vector<std::vector<int>> priorities)
      : app_(app),
        left_out_(left_out),
        priorities_(std::move(priorities)),
        ceilings_(priorities_.size(), std::vector<int>(app.locks.size(), 0)),
        shortest_(app.locks.size(), std::numeric_limits<std::int64_t>::max()) {
    result_.responses.assign(app.callbacks.size(), 0);
    for (std::size_t task = 0; task < app.callbacks.size(); ++task) {
      for (const application::CriticalSection& section : app.callbacks[task].critical_sections) {
        for (std::size_t scenario = 0; scenario < priorities_.size(); ++scenario) {
          int& ceiling = ceilings_[scenario][section.lock];
          ceiling = std::max(ceiling, priorities_[scenario][task]);
        }
        shortest_[section.lock] =
            std::min(shortest_[section.lock], app.callbacks[task].task.parameters.deadline.count());
      }
    }
  }

  AllRuns run() {
    add(Situation{});
    while (const auto now = situations_.next()) {
      for (std::size_t scenario = 0; scenario < priorities_.size(); ++scenario) {
        scenario_ = scenario;
        release_from(*now, 0);
      }
    }
    result_.complete = result_.complete && situations_.all_taken();
    return result_;
  }

 private:
  static constexpr std::size_t most_tasks = 4;
  static constexpr std::size_t most_pending = 3;
  static constexpr std::size_t most_sections = 8;
  static constexpr std::size_t most_situations = 150'000;
  static constexpr std::uint8_t most_age = 100;

  struct TaskNow {
    std::uint8_t next = 0;  // ticks until it may be released again
    std::uint8_t pending = 0;
    std::array<std::uint8_t, most_pending> ages{};
    std::uint8_t computed = 0;
    std::uint8_t held = 0;       // by section
    std::uint8_t wait_left = 0;  // of the wait that it is in
    std::uint8_t waited = 0;     // with that one
    std::uint8_t waits = 0;
    std::uint8_t priority = 0;
    std::array<std::uint8_t, most_sections> ceilings{};  // of the sections that it is in
  };
  struct Situation {
    std::array<TaskNow, most_tasks> tasks{};
  };

  [[nodiscard]] const auto& sections(std::size_t task) const {
    return app_.callbacks[task].critical_sections;
  }
  [[nodiscard]] std::size_t size() const { return app_.callbacks.size(); }

  void add(const Situation& now) { situations_.add(now); }

  void release_from(Situation now, std::size_t task) {
    for (; task < size(); ++task) {
      TaskNow& own = now.tasks[task];
      if (own.next > 0) {
        continue;
      }
      release_from(now, task + 1);  // not yet
      if (own.pending == most_pending) {
        result_.complete = false;
        return;
      }
      if (own.pending == 0) {
        own.priority = static_cast<std::uint8_t>(priorities_[scenario_][task]);
      }
      own.ages[own.pending++] = 0;
      own.next = static_cast<std::uint8_t>(app_.callbacks[task].task.parameters.period.count());
    }
    if (app_.policy == "edf") {
      choose_by_deadline(now);
    } else {
      choose(now);
    }
  }

  // The task that holds the lock; size() if nobody does.
  [[nodiscard]] std::size_t holder(const Situation& now, std::size_t lock) const {
    for (std::size_t task = 0; task < size(); ++task) {
      for (std::size_t i = 0; i < sections(task).size(); ++i) {
        if ((now.tasks[task].held >> i & 1U) != 0 && sections(task)[i].lock == lock) {
          return task;
        }
      }
    }
    return size();
  }

  // The first section that begins where the job is, and that it has not taken.
  [[nodiscard]] std::size_t due(const Situation& now, std::size_t task) const {
    const TaskNow& own = now.tasks[task];
    for (std::size_t i = 0; i < sections(task).size(); ++i) {
      if (sections(task)[i].begin.count() == own.computed && (own.held >> i & 1U) == 0) {
        return i;
      }
    }
    return sections(task).size();
  }

  void take(Situation& now, std::size_t task, std::size_t section) const {
    TaskNow& own = now.tasks[task];
    own.held = static_cast<std::uint8_t>(own.held | 1U << section);
    own.ceilings.at(section) =
        static_cast<std::uint8_t>(ceilings_[scenario_][sections(task)[section].lock]);
  }

  [[nodiscard]] int raised(const Situation& now, std::size_t task) const {
    int priority = now.tasks[task].priority;
    for (std::size_t i = 0; i < sections(task).size(); ++i) {
      const std::size_t lock = sections(task)[i].lock;
      if ((now.tasks[task].held >> i & 1U) != 0 && !left_out_.ceilings &&
          app_.locks[lock].protocol == application::LockProtocol::ceiling) {
        priority = std::max<int>(priority, now.tasks[task].ceilings.at(i));
      }
    }
    return priority;
  }

  void choose(Situation now) {
    std::array<int, most_tasks> priorities{};
    std::array<std::size_t, most_tasks> waits_for{};  // size(): for nobody
    waits_for.fill(size());
    for (std::size_t task = 0; task < size(); ++task) {
      priorities[task] = raised(now, task);
    }
    for (;;) {
      std::size_t best = size();
      for (std::size_t task = 0; task < size(); ++task) {
        const TaskNow& own = now.tasks[task];
        if (own.pending == 0 || own.wait_left > 0 || waits_for[task] < size()) {
          continue;
        }
        const auto rank = [&](std::size_t of) {
          return std::pair{priorities[of], now.tasks[of].held != 0};
        };
        best = best == size() || rank(task) > rank(best) ? task : best;
      }
      if (best == size()) {
        compute(now, best);
        return;
      }
      const std::size_t section = due(now, best);
      if (section == sections(best).size()) {
        compute(now, best);
        return;
      }
      const std::size_t other = holder(now, sections(best)[section].lock);
      if (other == size()) {
        take(now, best, section);
        priorities[best] = std::max(priorities[best], raised(now, best));
        continue;
      }
      waits_for[best] = other;
      for (std::size_t of = other; of < size() && !left_out_.inheritance; of = waits_for[of]) {
        priorities[of] = std::max(priorities[of], priorities[best]);
      }
    }
  }

  [[nodiscard]] std::int64_t deadline(std::size_t task) const {
    return app_.callbacks[task].task.parameters.deadline.count();
  }

  // Whether somebody holds a lock that one of no longer deadline than this task's takes.
  [[nodiscard]] bool is_kept_out(const Situation& now, std::size_t task) const {
    for (std::size_t lock = 0; lock < shortest_.size() && !left_out_.ceilings; ++lock) {
      if (holder(now, lock) < size() && shortest_[lock] <= deadline(task)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::int64_t due_in(const Situation& now, std::size_t task) const {
    return deadline(task) - now.tasks[task].ages[0];
  }

  [[nodiscard]] std::size_t due_first(const Situation& now,
                                      const std::set<std::size_t>& but) const {
    std::size_t first = size();
    for (std::size_t task = 0; task < size(); ++task) {
      if (now.tasks[task].pending > 0 && !but.contains(task)) {
        first = first == size() || due_in(now, task) < due_in(now, first) ? task : first;
      }
    }
    return first;
  }

  void choose_by_deadline(const Situation& now) {
    std::size_t top = size();  // of those that have begun
    std::vector<std::size_t> first;
    for (std::size_t task = 0; task < size(); ++task) {
      const TaskNow& own = now.tasks[task];
      if (own.pending == 0) {
        continue;
      }
      if (own.computed > 0 || own.held != 0) {
        top = top == size() || due_in(now, task) < due_in(now, top) ? task : top;
        continue;
      }
      if (!first.empty() && due_in(now, task) < due_in(now, first.front())) {
        first.clear();
      }
      if (first.empty() || due_in(now, task) == due_in(now, first.front())) {
        first.push_back(task);
      }
    }
    if (first.empty() || (top < size() && due_in(now, first.front()) >= due_in(now, top))) {
      take_and_compute(now, top);
      return;
    }
    for (const std::size_t task : first) {
      take_and_compute(now, is_kept_out(now, task) ? top : task);
    }
  }

  void take_and_compute(Situation now, std::size_t runs) {
    std::set<std::size_t> waiting;
    while (runs < size() && due(now, runs) < sections(runs).size()) {
      const std::size_t section = due(now, runs);
      if (const std::size_t other = holder(now, sections(runs)[section].lock); other < size()) {
        result_.waited = true;
        waiting.insert(runs);
        runs = left_out_.inheritance ? due_first(now, waiting) : other;
      } else {
        take(now, runs, section);
      }
    }
    compute(now, runs);
  }

  void compute(Situation now, std::size_t runs) {
    for (std::size_t task = 0; task < size(); ++task) {
      TaskNow& own = now.tasks[task];
      own.next = static_cast<std::uint8_t>(own.next - (own.next > 0 ? 1 : 0));
      own.wait_left = static_cast<std::uint8_t>(own.wait_left - (own.wait_left > 0 ? 1 : 0));
      for (std::size_t k = 0; k < own.pending; ++k) {
        if (++own.ages[k] > most_age) {
          result_.complete = false;
          return;
        }
      }
    }
    if (runs == size()) {
      add(now);
      return;
    }
    TaskNow& own = now.tasks[runs];
    ++own.computed;
    bool left = false;  // whoever waits for the lock comes first
    for (std::size_t i = 0; i < sections(runs).size(); ++i) {
      if (sections(runs)[i].end().count() == own.computed) {
        left = true;
        own.held = static_cast<std::uint8_t>(own.held & ~(1U << i));
        own.ceilings.at(i) = 0;
      }
    }
    const application::ExecutionTime& execution = app_.callbacks[runs].execution;
    if (own.computed >= execution.best.count()) {
      Situation ended = now;
      end(ended.tasks[runs], runs);
      add(ended);
    }
    if (own.computed == execution.worst.count()) {
      return;
    }
    add(now);
    add_waits(now, runs);
    if (left) {
      return;
    }
    // It goes on at once and takes a lock before anything else happens.
    for (std::size_t i = due(now, runs); i < sections(runs).size(); i = due(now, runs)) {
      if (holder(now, sections(runs)[i].lock) < size()) {
        return;
      }
      take(now, runs, i);
      add(now);
    }
  }

  void add_waits(Situation now, std::size_t runs) {
    const application::Callback& callback = app_.callbacks[runs];
    TaskNow& own = now.tasks[runs];
    const bool too_often = callback.suspensions > 0 && own.waits == callback.suspensions;
    if (own.held != 0 || too_often) {
      return;
    }
    own.waits = static_cast<std::uint8_t>(own.waits + (callback.suspensions > 0 ? 1 : 0));
    while (own.waited < callback.suspension.count()) {
      ++own.waited;
      ++own.wait_left;
      add(now);
    }
  }

  void end(TaskNow& task, std::size_t index) {
    result_.responses[index] = std::max<std::int64_t>(result_.responses[index], task.ages[0]);
    std::ranges::rotate(task.ages, task.ages.begin() + 1);
    task.ages.back() = 0;
    --task.pending;
    task.computed = task.held = task.waited = task.waits = 0;
    task.ceilings.fill(0);
    task.priority =
        static_cast<std::uint8_t>(task.pending == 0 ? 0 : priorities_[scenario_][index]);
  }

  const application::Application& app_;
  LeftOut left_out_;
  std::vector<std::vector<int>> priorities_;
  std::size_t scenario_ = 0;                // that is followed
  std::vector<std::vector<int>> ceilings_;  // by scenario
  std::vector<std::int64_t> shortest_;      // deadline of those who take each lock
  AllRuns result_;
  Situations<Situation> situations_{most_situations};
};

// At most 4 callbacks with 8 sections each, and no time above 100 ticks.
inline AllRuns all_runs(const application::Application& app, LeftOut left_out = {}) {
  std::vector<int> priorities;
  for (const application::Callback& callback : app.callbacks) {
    priorities.push_back(callback.task.parameters.priority);
  }
  return LockSearch{app, left_out, {priorities}}.run();
}

// With these priorities of all callbacks, by scenario.
inline AllRuns all_runs_of_scenarios(const application::Application& app,
                                     const std::vector<std::vector<int>>& priorities) {
  return LockSearch{app, {}, priorities}.run();
}

}  // namespace takt::analysis
