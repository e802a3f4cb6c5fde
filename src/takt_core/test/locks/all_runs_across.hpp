// SPDX-License-Identifier: Apache-2.0
//
// Every run of a few sporadic callbacks on several cores that take spin locks, tick by tick: each
// is released a period after its last release or any time later, and computes for any time from its
// best to its worst case. The cores have one time: what they request at the same moment comes in
// any order. A queue for each lock; nothing else is known of the protocol. Distinct priorities,
// constant lengths of sections, no overheads. Where a callback waits, its jobs do so after any time
// of computing in which they ask for no lock and hold none, for any times of their sum.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "situations.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// What is left out on purpose, to see that it is found.
struct AcrossLeftOut {
  bool keeping = false;  // of the core: from the request on, or under FMLP+ by a holder
  bool order = false;    // of the requests: the last one comes first
};

struct AllRunsAcross {
  std::vector<std::int64_t> responses;  // the longest of each callback
  bool complete = true;                 // nothing was left out
  bool waited = false;                  // some job, for another core
};

class AcrossSearch {
 public:
  AcrossSearch(const application::Application& app, AcrossLeftOut left_out)
      : app_(app),
        left_out_(left_out),
        by_deadline_(app.policy == "edf"),
        spins_(app.locks.front().protocol == application::LockProtocol::spin) {
    result_.responses.assign(app.callbacks.size(), 0);
  }

  AllRunsAcross run() {
    add(Situation{});
    while (const auto now = situations_.next()) {
      release_from(*now, 0);
    }
    result_.complete = result_.complete && situations_.all_taken();
    return result_;
  }

 private:
  static constexpr std::size_t most_tasks = 4;
  static constexpr std::size_t most_cores = 3;
  static constexpr std::size_t most_locks = 2;
  static constexpr std::size_t most_pending = 2;
  static constexpr std::size_t most_situations = 60'000;
  static constexpr std::uint8_t most_age = 100;
  static constexpr std::uint8_t nobody = most_tasks;

  struct TaskNow {
    std::uint8_t next = 0;  // ticks until it may be released again
    std::uint8_t pending = 0;
    std::array<std::uint8_t, most_pending> ages{};
    std::uint8_t computed = 0;
    std::uint8_t begun = 0;      // its job has had its core
    std::uint8_t requested = 0;  // the section, from 1 on: it waits for the lock, or holds it
    std::uint8_t passed = 0;     // how many sections it has left
    std::uint8_t asked = 0;      // the place of its request among all, from 1 on
    std::uint8_t wait_left = 0;  // of the wait that it is in
    std::uint8_t waited = 0;     // with that one
    std::uint8_t waits = 0;
  };
  using Queue = std::array<std::uint8_t, most_tasks>;  // of tasks, from 1 on; the first one holds
  struct Situation {
    std::array<TaskNow, most_tasks> tasks{};
    std::array<Queue, most_locks> queues{};
  };
  using Running = std::array<std::uint8_t, most_cores>;

  [[nodiscard]] std::size_t size() const { return app_.callbacks.size(); }
  [[nodiscard]] const application::Callback& callback(std::size_t task) const {
    return app_.callbacks[task];
  }
  [[nodiscard]] std::size_t lock_of(const Situation& now, std::size_t task) const {
    return callback(task).critical_sections[now.tasks[task].requested - 1U].lock;
  }

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
      own.ages[own.pending++] = 0;
      own.next = static_cast<std::uint8_t>(callback(task).task.parameters.period.count());
    }
    Running running{};
    running.fill(nobody);
    choose(now, 0, running);
  }

  [[nodiscard]] std::int64_t urgency(const Situation& now, std::size_t task) const {
    const sched::TaskParameters& parameters = callback(task).task.parameters;
    return by_deadline_ ? now.tasks[task].ages[0] - parameters.deadline.count()
                        : parameters.priority;
  }

  [[nodiscard]] bool holds(const Situation& now, std::size_t task) const {
    return now.tasks[task].requested != 0 && now.queues.at(lock_of(now, task)).front() == task + 1;
  }

  // Whether it comes before all jobs of its core that have no lock.
  [[nodiscard]] bool is_first(const Situation& now, std::size_t task) const {
    return !left_out_.keeping && (spins_ ? now.tasks[task].requested != 0 : holds(now, task));
  }

  // Who may have the core; of those that are equally urgent, one that has had it.
  [[nodiscard]] std::vector<std::uint8_t> candidates(const Situation& now, std::size_t core) const {
    std::vector<std::uint8_t> found;
    for (std::size_t task = 0; task < size(); ++task) {
      const TaskNow& own = now.tasks[task];
      if (callback(task).task.cpu != static_cast<int>(core) || own.pending == 0 ||
          own.wait_left > 0) {
        continue;
      }
      if (!spins_ && own.requested != 0 && !holds(now, task)) {
        continue;  // it waits
      }
      const auto rank = [&](std::size_t of) {
        const bool first = is_first(now, of);
        return std::tuple{first, first ? -now.tasks[of].asked : urgency(now, of),
                          now.tasks[of].begun};
      };
      if (!found.empty() && rank(task) > rank(found.front())) {
        found.clear();
      }
      if (found.empty() || rank(task) == rank(found.front())) {
        found.push_back(static_cast<std::uint8_t>(task));
      }
    }
    return found;
  }

  void choose(const Situation& now, std::size_t core, Running running) {
    if (core == app_.cpus.size()) {
      request(now, running);
      return;
    }
    const std::vector<std::uint8_t> may = candidates(now, core);
    if (may.empty()) {
      choose(now, core + 1, running);
    }
    for (const std::uint8_t task : may) {
      running.at(core) = task;
      choose(now, core + 1, running);
    }
  }

  // Whether the job is where its next section begins.
  [[nodiscard]] bool is_due(const Situation& now, std::size_t task) const {
    const TaskNow& own = now.tasks[task];
    const auto& sections = callback(task).critical_sections;
    return own.requested == 0 && own.passed < sections.size() &&
           sections[own.passed].begin.count() == own.computed;
  }

  void enqueue(Situation& now, std::size_t task) {
    TaskNow& own = now.tasks[task];
    own.requested = static_cast<std::uint8_t>(own.passed + 1U);
    for (const TaskNow& each : now.tasks) {
      own.asked = static_cast<std::uint8_t>(own.asked + (each.requested != 0 ? 1 : 0));
    }
    Queue& queue = now.queues.at(lock_of(now, task));
    auto place = std::ranges::find(queue, 0);
    result_.waited = result_.waited || place != queue.begin();
    *place = static_cast<std::uint8_t>(task + 1);
    if (left_out_.order && place - queue.begin() > 1) {
      std::rotate(queue.begin() + 1, place, place + 1);
    }
  }

  void request(const Situation& now, const Running& running) {
    std::vector<std::uint8_t> asking;
    for (const std::uint8_t task : running) {
      if (task != nobody && is_due(now, task)) {
        asking.push_back(task);
      }
    }
    if (asking.empty()) {
      compute(now, running);
      return;
    }
    std::ranges::sort(asking);
    do {
      Situation then = now;
      for (const std::uint8_t task : asking) {
        enqueue(then, task);
      }
      if (spins_) {
        compute(then, running);
      } else {
        Running others{};
        others.fill(nobody);
        choose(then, 0, others);  // who waits leaves its core
      }
    } while (std::ranges::next_permutation(asking).found);
  }

  void leave(Situation& now, std::size_t task) const {
    TaskNow& own = now.tasks[task];
    Queue& queue = now.queues.at(lock_of(now, task));
    std::rotate(queue.begin(), queue.begin() + 1, queue.end());
    queue.back() = 0;
    own.passed = own.requested;
    own.requested = 0;
    for (TaskNow& each : now.tasks) {
      each.asked = static_cast<std::uint8_t>(each.asked - (each.asked > own.asked ? 1 : 0));
    }
    own.asked = 0;
  }

  void compute(Situation now, const Running& running) {
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
    std::vector<std::uint8_t> advanced;
    for (const std::uint8_t task : running) {
      if (task == nobody) {
        continue;
      }
      TaskNow& own = now.tasks[task];
      own.begun = 1;
      if (own.requested != 0 && !holds(now, task)) {
        continue;
      }
      ++own.computed;
      advanced.push_back(task);
    }
    settle(now, advanced, 0);
  }

  // What the jobs that have computed come to, each on its core.
  void settle(const Situation& now, const std::vector<std::uint8_t>& advanced, std::size_t at) {
    if (at == advanced.size()) {
      add(now);
      return;
    }
    const std::size_t task = advanced[at];
    const application::Callback& of = callback(task);
    Situation then = now;
    TaskNow& own = then.tasks[task];
    if (own.computed >= of.execution.best.count()) {
      Situation ended = now;
      end(ended, task);
      settle(ended, advanced, at + 1);
    }
    if (own.computed == of.execution.worst.count()) {
      return;
    }
    if (own.requested != 0 &&
        of.critical_sections[own.requested - 1U].end().count() == own.computed) {
      leave(then, task);
      settle_waiting(then, advanced, at);  // whoever waits for the core comes first
      return;
    }
    settle_waiting(then, advanced, at);
    if (is_due(then, task)) {  // it asks before anything else happens
      enqueue(then, task);
      settle(then, advanced, at + 1);
    }
  }

  // It goes on, or waits.
  void settle_waiting(Situation now, const std::vector<std::uint8_t>& advanced, std::size_t at) {
    settle(now, advanced, at + 1);
    const application::Callback& of = callback(advanced[at]);
    TaskNow& own = now.tasks[advanced[at]];
    const bool too_often = of.suspensions > 0 && own.waits == of.suspensions;
    if (own.requested != 0 || too_often) {
      return;
    }
    own.waits = static_cast<std::uint8_t>(own.waits + (of.suspensions > 0 ? 1 : 0));
    while (own.waited < of.suspension.count()) {
      ++own.waited;
      ++own.wait_left;
      settle(now, advanced, at + 1);
    }
  }

  void end(Situation& now, std::size_t task) {
    if (now.tasks[task].requested != 0) {
      leave(now, task);
    }
    TaskNow& own = now.tasks[task];
    result_.responses[task] = std::max<std::int64_t>(result_.responses[task], own.ages[0]);
    std::ranges::rotate(own.ages, own.ages.begin() + 1);
    own.ages.back() = 0;
    --own.pending;
    own.computed = own.begun = own.passed = own.waited = own.waits = 0;
  }

  const application::Application& app_;
  AcrossLeftOut left_out_;
  bool by_deadline_;
  bool spins_;  // else who waits leaves its core
  AllRunsAcross result_;
  Situations<Situation> situations_{most_situations};
};

// At most 4 callbacks on 3 cores, and no time above 100 ticks.
inline AllRunsAcross all_runs_across(const application::Application& app,
                                     AcrossLeftOut left_out = {}) {
  return AcrossSearch{app, left_out}.run();
}

}  // namespace takt::analysis
