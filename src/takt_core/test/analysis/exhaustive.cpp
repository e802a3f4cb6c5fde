// SPDX-License-Identifier: Apache-2.0
#include "analysis/exhaustive.hpp"

#include <algorithm>
#include <unordered_set>

#include "analysis/exhaustive_core.hpp"
#include "analysis/exhaustive_costs.hpp"
#include "analysis/exhaustive_data.hpp"
#include "analysis/exhaustive_notices.hpp"
#include "analysis/exhaustive_order.hpp"
#include "analysis/exhaustive_switch.hpp"

namespace takt::analysis {
namespace {

struct Hash {
  std::size_t operator()(const Situation& situation) const {
    return std::hash<std::string_view>{}(situation.bytes());
  }
};

class Search {
 public:
  Search(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks)
      : options_(options),
        tasks_(options, tasks),
        order_(tasks_),
        charges_(tasks_),
        notices_(tasks_, order_, charges_),
        core_(options_.core),
        data_(tasks_, result_) {
    result_.responses.assign(tasks.size(), 0);
    result_.complete = true;
  }

  Reached run() {
    Situation first;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      first.tasks[i].next =
          static_cast<std::uint8_t>(options_.sporadic ? 0 : tasks_[i].task.offset);
    }
    for (const CoreNow& core : core_.begins()) {
      first.core = core;
      add(first);
    }
    while (!todo_.empty() && !(options_.until_missed && result_.missed)) {
      if (visited_.size() > options_.most_situations) {
        result_.complete = false;
        break;
      }
      const Situation situation = todo_.back();
      todo_.pop_back();
      release_from(situation, 0, options_.switches);
    }
    result_.situations = visited_.size();
    return result_;
  }

 private:
  void add(const Situation& situation) {
    if (visited_.insert(situation).second) {
      todo_.push_back(situation);
    }
  }

  // Of what is released at this tick any may have been noticed before.
  void switch_from(Situation now, std::size_t task) {
    for (; task < tasks_.size(); ++task) {
      const TaskNow& own = now.tasks[task];
      if (own.waiting > 0 && own.noticed == 0 && own.ages[0] == 0) {
        switch_from(now, task + 1);
        notices_.notice(now, task, now.scenario);
      }
    }
    release_from(in_other_scenario(tasks_, notices_, now), 0, false);
  }

  // What follows is done one after the other at each tick; each choice is a branch.
  void release_from(Situation now, std::size_t task, bool switches) {
    for (; task < tasks_.size(); ++task) {
      TaskNow& own = now.tasks[task];
      if (!tasks_.is_timer(task) || own.next > 0) {
        continue;
      }
      if (options_.sporadic) {
        release_from(now, task + 1, switches);  // not yet
      }
      if (!push(own)) {
        return;
      }
      own.next = static_cast<std::uint8_t>(tasks_.of_next(now, task).period);
    }
    if (switches) {
      switch_from(now, 0);
    }
    notice_from(now, now, 0);
  }

  bool push(TaskNow& task) {
    if (task.waiting == most_waiting) {
      result_.complete = false;
      return false;
    }
    task.ages[task.waiting++] = 0;
    return true;
  }

  // `before`: nothing has been noticed at this tick.
  void notice_from(const Situation& before, Situation now, std::size_t task) {
    for (; task < tasks_.size(); ++task) {
      TaskNow& own = now.tasks[task];
      if (own.waiting == 0 || own.noticed != 0) {
        continue;
      }
      if (own.ages[0] < tasks_[task].task.lag) {
        notice_from(before, now, task + 1);  // not yet
      }
      notices_.notice(now, task, now.scenario);
    }
    if (core_.is_limited()) {
      supply_from(before, now);
    } else {
      choose_from(before, now);
    }
  }

  // A tick of the core, with interrupts or without, supplied or not. Where it is away nobody
  // computes, and it may be that nobody is chosen either.
  void supply_from(const Situation& before, const Situation& now) {
    for (std::int64_t count = 0; count <= now.core.tokens; ++count) {
      const CoreNow core = core_.after_interrupts(now.core, count);
      for (const bool supplied : {true, false}) {
        if (!core_.may(core, supplied)) {
          continue;
        }
        Situation passes = now;
        passes.core = core_.after(core, supplied);
        if (supplied && core.interrupt == 0) {
          Situation unnoticed = before;
          unnoticed.core = passes.core;
          choose_from(unnoticed, passes);
          continue;
        }
        compute(passes, nobody_runs);
        for (const std::size_t task : order_.choose(now)) {
          Situation chosen = passes;
          give_core(chosen, task);
          compute(chosen, nobody_runs);
        }
      }
    }
  }

  void choose_from(const Situation& before, const Situation& now) {
    const std::vector<std::size_t> choices = order_.choose(now);
    if (choices.empty()) {
      compute(now, nobody_runs);
    }
    for (const std::size_t task : choices) {
      if (now.tasks[task].published == finished) {  // who came before it waits already
        Situation ended = now;
        end(ended, task);
        const TaskNow& own = ended.tasks[task];
        if (own.waiting == 0 || own.ages[0] < tasks_[task].task.lag) {
          choose_from(ended, ended);
        }
        if (own.waiting > 0) {
          notices_.notice(ended, task, ended.scenario);
          choose_from(ended, ended);
        }
        if (options_.costs.preemption == 0) {
          continue;
        }
      }
      // Nobody need look for releases that change nothing, until they do, or the scenario changes.
      const bool goes_on =
          charges_.remember() && now.had_core == task && now.tasks[task].suspended == 0;
      if (goes_on && !(before == now)) {
        run(before, task);
      }
      if (!goes_on || before == now || order_.preempts() || options_.switches) {
        run(now, task);
      }
    }
  }

  void run(Situation now, std::size_t task) {
    give_core(now, task);
    // Also where it has only just waited: what it computes in between may be next to nothing.
    if (tasks_.waits(task) && tasks_.may_wait(now, task)) {
      Situation waits = now;
      tasks_.suspend(waits, task);
      choose_from(waits, waits);
    }
    compute(now, task);
  }

  void give_core(Situation& now, std::size_t task) {
    TaskNow& own = now.tasks[task];
    if (own.place == 0) {
      own.place = 1;
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if (i != task && !tasks_.waits(i) && !tasks_.waits(task) &&
            now.tasks[i].place >= own.place) {
          own.place = static_cast<std::uint8_t>(now.tasks[i].place + 1);
        }
      }
      charges_.start(own, task, data_.take(now, task));
    }
    charges_.run(now, task);
  }

  // A tick of whoever has the core.
  void compute(Situation now, std::size_t runs) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      TaskNow& task = now.tasks[i];
      if (tasks_.is_timer(i) && task.next > 0) {
        --task.next;
      }
      if (task.since < most_age) {
        ++task.since;
      }
      for (std::size_t k = 0; k < task.waiting; ++k) {
        if (++task.ages[k] > most_age) {
          result_.complete = false;
          return;
        }
      }
      task.waited += task.suspended;
      result_.missed =
          result_.missed || (task.waiting > 0 && task.ages[0] > tasks_.of_job(now, i).deadline);
    }
    data_.grow_older(now);
    if (runs != nobody_runs) {
      ++now.tasks[runs].computed;
    }
    go_on_from(now, 0, runs);
  }

  [[nodiscard]] std::int64_t least(const Situation& now, std::size_t task) const {
    const OracleTask& job = tasks_.of_job(now, task);
    return now.tasks[task].empty != 0 ? 1 : job.best > 0 ? job.best : job.execution;
  }
  [[nodiscard]] std::int64_t most(const Situation& now, std::size_t task) const {
    return now.tasks[task].extra +
           (now.tasks[task].empty != 0 ? 1 : tasks_.of_job(now, task).execution);
  }

  // Whoever computes or waits ends, goes on, or does the other of the two.
  void go_on_from(Situation now, std::size_t task, std::size_t runs) {
    for (; task < tasks_.size(); ++task) {
      TaskNow& own = now.tasks[task];
      if (own.suspended == 0 && task != runs) {
        continue;
      }
      // Whoever has waited computes again: going on takes a moment.
      const bool woke = own.suspended != 0;
      if (woke ? own.waited < tasks_[task].suspension
               : own.computed < most(now, task) && tasks_.may_wait(now, task)) {
        Situation waits = now;
        if (!woke) {
          tasks_.suspend(waits, task);
        }
        go_on_from(waits, task + 1, runs);
      }
      own.suspended = 0;
      if (woke) {
        continue;
      }
      if (tasks_[task].anywhere && own.published == 0 && own.computed < most(now, task)) {
        Situation publishes = now;
        if (publish(publishes, task)) {
          go_on_from(publishes, task, runs);
        }
      }
      if (own.computed >= least(now, task)) {
        Situation ends = now;
        if (own.published != 0 || publish(ends, task)) {
          give_way_from(ends, task, runs);
          end(ends, task);
          go_on_from(ends, task + 1, runs);
        }
      }
      if (own.computed >= most(now, task)) {
        return;
      }
    }
    end_finished(now);
  }

  bool publish(Situation& now, std::size_t task) {
    now.tasks[task].published = 1;
    return now.tasks[task].empty != 0 || !data_.publish(now, task) || release_by(now, task);
  }

  // A job that has just published, and only has to end: what its message releases comes first
  // where it preempts it.
  void give_way_from(Situation now, std::size_t task, std::size_t runs) {
    if (!order_.preempts() || now.tasks[task].published == finished ||
        !notices_.releases_others(task)) {
      return;
    }
    now.tasks[task].published = finished;
    for (const Situation& later : notices_.before_the_end(now)) {
      go_on_from(later, task + 1, runs);
    }
  }

  // Jobs that only have to end do so as soon as nobody comes before them, or have to pay for having
  // given way.
  void end_finished(const Situation& now) {
    for (const std::size_t first : order_.choose(now)) {
      if (now.tasks[first].published != finished) {
        continue;
      }
      std::ranges::for_each(notices_.before_the_end(now),
                            [this](const Situation& later) { add(later); });
      Situation ended = now;
      end(ended, first);
      end_finished(ended);
      if (options_.costs.preemption == 0) {
        return;
      }
    }
    add(now);
  }

  void end(Situation& now, std::size_t task) {
    TaskNow& own = now.tasks[task];
    result_.responses[task] = std::max<std::int64_t>(result_.responses[task], own.ages[0]);
    if (own.empty == 0) {
      data_.end(now, task);
    }
    std::ranges::rotate(own.ages, own.ages.begin() + 1);
    own.ages.back() = 0;
    --own.waiting;
    // What was released before this moment, and waits, is stale.
    const std::uint8_t kept = tasks_[task].drop == Drop::nothing ? own.waiting
                              : tasks_[task].drop == Drop::stale ? std::uint8_t{0}
                                                                 : std::uint8_t{1};
    while (own.waiting > kept) {
      own.ages[--own.waiting] = 0;
    }
    own.noticed = own.computed = own.place = own.under = 0;
    own.waited = own.waits = own.extra = own.empty = own.sampled = own.published = 0;
    if (now.had_core == task) {
      now.had_core = nobody_runs;
    }
  }

  bool release_by(Situation& now, std::size_t writer) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Input& trigger = tasks_[i].trigger;
      if (std::ranges::find(trigger.writers, writer) == trigger.writers.end()) {
        continue;
      }
      TaskNow& own = now.tasks[i];
      for (std::int64_t left = tasks_[writer].messages; left > 0; --left) {
        // Twice the depth may have come and not been noticed.
        const bool lost = trigger.depth > 0 && own.waiting - own.noticed >= 2 * trigger.depth;
        if (!lost && !push(own)) {
          return false;
        }
      }
    }
    return true;
  }

  const Exhaustive& options_;
  Tasks tasks_;
  Reached result_;
  Order order_;
  Charges charges_;
  Notices notices_;
  OracleCore core_;
  Data data_;
  std::unordered_set<Situation, Hash> visited_;
  std::vector<Situation> todo_;
};

}  // namespace

Reached reach_all(const Exhaustive& options, const std::vector<ExhaustiveTask>& tasks) {
  return Search{options, tasks}.run();
}

}  // namespace takt::analysis
