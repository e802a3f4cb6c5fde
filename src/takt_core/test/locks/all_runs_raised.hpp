// SPDX-License-Identifier: Apache-2.0
//
// Every run of a few periodic timers with any offsets that take locks, of which one reads data with
// `max_age` from another one, tick by tick: each job computes for any time from its best to its
// worst case. The source is released early, or raised to the reader's priority, by the rules of
// age_requests.hpp, written down once more; the parameters of the constraint are those of the
// library. What does not change who runs may also be noticed later, as long as nothing else
// happens. Fixed priorities, distinct but for the raised one, constant lengths of sections, no
// overheads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "situations.hpp"
#include "takt/application/application.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {

struct RaisedRuns {
  std::vector<std::int64_t> responses;  // the longest of each callback
  std::int64_t age = -1;                // of the data at a start of the reader; -1: none comes
  bool early = false;                   // some job was released early, or raised
  bool raised = false;
  bool complete = true;  // nothing was left out
};

class RaisedSearch {
 public:
  explicit RaisedSearch(const application::Application& app)
      : app_(app), compiled_(application::compile(app)) {
    const sched::CompiledScenario& scenario = compiled_.scenarios().front();
    const sched::AgeConstraint& age = scenario.age_constraints().front();
    reader_ = age.reader;
    source_ = *age.source;
    watches_ = age.needs_early_release();
    youngest_ = age.youngest.count();
    lead_ = age.lead().count();
    longest_use_ = age.longest_use().count();
    ceilings_.assign(app.locks.size(), 0);
    for (std::size_t task = 0; task < size(); ++task) {
      parameters_.push_back(scenario.parameters(static_cast<sched::TaskIndex>(task)));
      for (const application::CriticalSection& section : sections(task)) {
        int& ceiling = ceilings_[section.lock];
        ceiling = std::max(ceiling, sched::highest_priority_of(parameters_[task]));
      }
    }
    result_.responses.assign(size(), 0);
  }

  RaisedRuns run() {
    Situation first;
    first.ran = nobody;
    begin_from(first, 0);
    while (const auto now = situations_.next()) {
      decide(*now);
    }
    result_.complete = result_.complete && situations_.all_taken();
    return result_;
  }

 private:
  static constexpr std::size_t most_tasks = 4;
  static constexpr std::uint8_t nobody = most_tasks;
  static constexpr std::size_t most_situations = 100'000;
  static constexpr std::int64_t most_age = 100;
  static constexpr std::uint8_t no_sample = 255;

  struct TaskNow {
    std::int8_t next = 0;  // ticks until the next regular release, in the past if it is due
    std::uint8_t age = 0;  // of its job, since the release
    std::uint8_t there = 0;
    std::uint8_t begun = 0;
    std::uint8_t computed = 0;
    std::uint8_t held = 0;  // by section
    bool operator==(const TaskNow&) const = default;
  };
  struct Situation {
    std::array<TaskNow, most_tasks> tasks{};
    std::int8_t at = 0;  // ticks until the source's job is raised
    std::uint8_t asked = 0;
    std::uint8_t raised = 0;
    std::uint8_t sampled = no_sample;  // ticks since the release of the source's last job
    std::uint8_t ran = 0;              // has computed in the last tick, and has not ended
    bool operator==(const Situation&) const = default;
  };

  [[nodiscard]] std::size_t size() const { return app_.callbacks.size(); }
  [[nodiscard]] const std::vector<application::CriticalSection>& sections(std::size_t task) const {
    return app_.callbacks[task].critical_sections;
  }
  [[nodiscard]] std::int64_t period(std::size_t task) const {
    return parameters_[task].period.count();
  }

  // With any offset up to the period.
  void begin_from(Situation first, std::size_t task) {
    if (task == size()) {
      request(first);
      add(first);
      return;
    }
    for (std::int64_t offset = 0; offset <= period(task); ++offset) {
      first.tasks.at(task).next = static_cast<std::int8_t>(offset);
      begin_from(first, task + 1);
    }
  }

  void add(const Situation& now) { situations_.add(now); }

  // The reader's next job needs data.
  void request(Situation& now) const {
    if (watches_) {
      now.at = static_cast<std::int8_t>(now.tasks.at(reader_).next - youngest_);
      now.asked = 1;
      forget_served(now);
    }
  }
  void forget_served(Situation& now) const {
    if (now.asked != 0 && now.sampled != no_sample &&
        -std::int64_t{now.sampled} >= now.at + youngest_ - longest_use_) {
      now.asked = 0;
      now.at = 0;
    }
  }

  // All that is due.
  void notice(Situation& now) {
    for (std::size_t task = 0; task < size(); ++task) {
      TaskNow& own = now.tasks.at(task);
      const std::int64_t from = now.at + youngest_ - lead_;
      const bool early = task == source_ && now.asked != 0 && now.at < own.next && from <= 0;
      if (own.there != 0 || (!early && own.next > 0)) {
        continue;
      }
      const std::int64_t release = early ? from : std::int64_t{own.next};
      result_.early = result_.early || early;
      own.there = 1;
      own.age = static_cast<std::uint8_t>(-release);
      own.next = static_cast<std::int8_t>(release + period(task));
    }
    if (now.tasks.at(source_).there != 0 && now.asked != 0 && now.at <= 0 &&
        parameters_[source_].boosted_priority > 0) {
      now.raised = 1;
      result_.raised = true;
    }
  }

  void decide(const Situation& now) {
    Situation all = now;
    notice(all);
    const std::size_t runs = choose(all);
    compute(all, runs);
    if (now.ran != nobody && runs == now.ran && !(all == now)) {
      Situation quiet = now;
      if (choose(quiet) == now.ran) {
        compute(quiet, now.ran);
      }
    }
  }

  [[nodiscard]] std::size_t holder(const Situation& now, std::size_t lock) const {
    for (std::size_t task = 0; task < size(); ++task) {
      for (std::size_t i = 0; i < sections(task).size(); ++i) {
        if ((now.tasks.at(task).held >> i & 1U) != 0 && sections(task)[i].lock == lock) {
          return task;
        }
      }
    }
    return size();
  }

  // The first section that begins where the job is, and that it has not taken.
  [[nodiscard]] std::size_t due(const Situation& now, std::size_t task) const {
    const TaskNow& own = now.tasks.at(task);
    for (std::size_t i = 0; i < sections(task).size(); ++i) {
      if (sections(task)[i].begin.count() == own.computed && (own.held >> i & 1U) == 0) {
        return i;
      }
    }
    return sections(task).size();
  }

  [[nodiscard]] int priority(const Situation& now, std::size_t task) const {
    int highest = task == source_ && now.raised != 0 ? sched::highest_priority_of(parameters_[task])
                                                     : parameters_[task].priority;
    for (std::size_t i = 0; i < sections(task).size(); ++i) {
      const std::size_t lock = sections(task)[i].lock;
      if ((now.tasks.at(task).held >> i & 1U) != 0 &&
          app_.locks[lock].protocol == application::LockProtocol::ceiling) {
        highest = std::max(highest, ceilings_[lock]);
      }
    }
    return highest;
  }

  // Who has the core, with the locks that it takes first.
  std::size_t choose(Situation& now) {
    std::array<int, most_tasks> priorities{};
    std::array<std::size_t, most_tasks> waits_for{};  // size(): for no task
    waits_for.fill(size());
    for (std::size_t task = 0; task < size(); ++task) {
      priorities.at(task) = priority(now, task);
    }
    const auto rank = [&](std::size_t task) {
      const TaskNow& own = now.tasks.at(task);
      // Of those that have begun at one priority the raised one comes last, as it came from below.
      return std::tuple{priorities.at(task), own.begun != 0,
                        own.begun != 0 ? int{own.held != 0} : int{own.age},
                        own.begun == 0 || task != source_, -static_cast<int>(task)};
    };
    for (;;) {
      std::size_t best = size();
      for (std::size_t task = 0; task < size(); ++task) {
        if (now.tasks.at(task).there != 0 && waits_for.at(task) == size()) {
          best = best == size() || rank(task) > rank(best) ? task : best;
        }
      }
      if (best == size()) {
        return best;
      }
      begin(now, best);
      const std::size_t section = due(now, best);
      if (section == sections(best).size()) {
        return best;
      }
      const std::size_t other = holder(now, sections(best)[section].lock);
      if (other == size()) {
        TaskNow& own = now.tasks.at(best);
        own.held = static_cast<std::uint8_t>(own.held | 1U << section);
        priorities.at(best) = std::max(priorities.at(best), priority(now, best));
        continue;
      }
      waits_for.at(best) = other;
      for (std::size_t of = other; of < size(); of = waits_for.at(of)) {
        priorities.at(of) = std::max(priorities.at(of), priorities.at(best));
      }
    }
  }

  void begin(Situation& now, std::size_t task) {
    if (now.tasks.at(task).begun == 0 && task == reader_ && now.sampled != no_sample) {
      result_.age = std::max<std::int64_t>(result_.age, now.sampled);
    }
    now.tasks.at(task).begun = 1;
  }

  // A tick passes.
  [[nodiscard]] bool grow_older(Situation& now) const {
    for (std::size_t task = 0; task < size(); ++task) {
      TaskNow& own = now.tasks.at(task);
      --own.next;
      own.age = static_cast<std::uint8_t>(own.age + own.there);
      if (own.age > most_age || own.next < -most_age) {
        return false;
      }
    }
    now.at = static_cast<std::int8_t>(now.at - now.asked);
    now.sampled = static_cast<std::uint8_t>(now.sampled + (now.sampled != no_sample ? 1 : 0));
    return now.at >= -most_age && (now.sampled == no_sample || now.sampled <= most_age);
  }

  void compute(Situation now, std::size_t runs) {
    if (!grow_older(now)) {
      result_.complete = false;
      return;
    }
    now.ran = nobody;
    if (runs == size()) {
      add(now);
      return;
    }
    TaskNow& own = now.tasks.at(runs);
    ++own.computed;
    bool left = false;  // who waits for the lock comes first
    for (std::size_t i = 0; i < sections(runs).size(); ++i) {
      if (sections(runs)[i].end().count() == own.computed) {
        left = true;
        own.held = static_cast<std::uint8_t>(own.held & ~(1U << i));
      }
    }
    const application::ExecutionTime& execution = app_.callbacks[runs].execution;
    if (own.computed >= execution.best.count()) {
      Situation ended = now;
      end(ended, runs);
      add(ended);
    }
    if (own.computed == execution.worst.count()) {
      return;
    }
    now.ran = static_cast<std::uint8_t>(runs);
    add(now);
    // It goes on at once and takes a lock before anything else happens.
    for (std::size_t i = due(now, runs); !left && i < sections(runs).size(); i = due(now, runs)) {
      if (holder(now, sections(runs)[i].lock) < size()) {
        return;
      }
      own.held = static_cast<std::uint8_t>(own.held | 1U << i);
      add(now);
    }
  }

  void end(Situation& now, std::size_t task) {
    TaskNow& own = now.tasks.at(task);
    result_.responses[task] = std::max<std::int64_t>(result_.responses[task], own.age);
    if (task == source_) {
      now.sampled = own.age;
      now.raised = 0;
      forget_served(now);
    }
    own.age = own.there = own.begun = own.computed = own.held = 0;
    if (task == reader_) {
      request(now);
    }
  }

  const application::Application& app_;
  sched::CompiledStrategy compiled_;
  std::vector<sched::TaskParameters> parameters_;
  std::vector<int> ceilings_;
  std::size_t reader_ = 0;
  std::size_t source_ = 0;
  bool watches_ = false;
  std::int64_t youngest_ = 0;
  std::int64_t lead_ = 0;
  std::int64_t longest_use_ = 0;
  RaisedRuns result_;
  Situations<Situation> situations_{most_situations};
};

}  // namespace takt::analysis
