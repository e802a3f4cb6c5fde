// SPDX-License-Identifier: Apache-2.0
//
// Random applications whose callbacks hold locks.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../analysis/random_tasks.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

struct LocksForm {
  std::int64_t least_tasks = 2;
  std::int64_t most_tasks = 6;
  std::int64_t most_locks = 3;
  double share = 0.6;                      // of the core, about
  std::vector<std::int64_t> periods = {};  // to draw from
  std::string policy = "fp";               // or edf, whose locks have ceilings
  // The protocol of locks across two or three cores; none: on one core.
  std::optional<application::LockProtocol> across = {};
  bool waits = false;   // some callbacks wait
  bool varied = false;  // execution times, lengths, jitters, groups, equal priorities, overheads
};

class RandomLocks : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application make(const LocksForm& form) {
    application::Application app{.name = "random", .policy = form.policy};
    if (form.across) {
      app.cpus = chance(0.5) ? std::vector{0, 1} : std::vector{0, 1, 2};
    } else if (form.varied && chance(0.3)) {
      app.cpus = {0, 1};
    }
    for (std::int64_t i = number(1, form.most_locks); i > 0; --i) {
      app.locks.push_back({.name = "l" + std::to_string(app.locks.size()),
                           .protocol = form.policy == "edf" || chance(0.5)
                                           ? application::LockProtocol::ceiling
                                           : application::LockProtocol::inheritance});
    }
    for (application::Lock& lock : app.locks) {
      lock.protocol = form.across.value_or(lock.protocol);
    }
    const std::int64_t count = number(form.least_tasks, form.most_tasks);
    std::vector<int> priorities;
    for (int i = 1; i <= count; ++i) {
      priorities.push_back(form.varied && chance(0.2) ? static_cast<int>(number(1, count)) : i);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      add(app, form, count, take_one(priorities));
    }
    if (form.varied && chance(0.25)) {
      app.overheads = {.dispatch = nanoseconds{1},
                       .preemption = nanoseconds{number(1, 3)},
                       .release = nanoseconds{1}};
    }
    return app;
  }

 private:
  int take_one(std::vector<int>& from) {
    const auto place = from.begin() + number(0, static_cast<std::int64_t>(from.size()) - 1);
    const int one = *place;
    from.erase(place);
    return one;
  }

  void add(application::Application& app, const LocksForm& form, std::int64_t count, int priority) {
    application::Callback callback;
    sched::Task& task = callback.task;
    task.name = "c" + std::to_string(app.callbacks.size());
    callback.node = task.name;
    const std::int64_t period = form.periods[static_cast<std::size_t>(
        number(0, static_cast<std::int64_t>(form.periods.size()) - 1))];
    const std::int64_t worst = number(
        1, std::max<std::int64_t>(
               1, static_cast<std::int64_t>(2 * form.share * static_cast<double>(period)) / count));
    callback.execution = {.best = nanoseconds{worst}, .worst = nanoseconds{worst}};
    if (form.varied && chance(0.5)) {
      callback.execution.best = nanoseconds{number(1, worst)};
    }
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    if (form.across) {
      task.cpu = static_cast<int>(number(0, static_cast<std::int64_t>(app.cpus.size()) - 1));
    }
    task.parameters.expected_execution = callback.execution.worst;
    task.parameters.priority = priority;
    task.parameters.period = nanoseconds{period};
    task.parameters.offset = nanoseconds{number(0, period)};
    task.parameters.deadline = nanoseconds{number(worst, 2 * period)};
    task.parameters.overrun = sched::Overrun::catch_up;
    if (form.waits && chance(0.6)) {
      task.waits = true;
      callback.suspension = nanoseconds{number(1, std::max<std::int64_t>(1, period / 4))};
      callback.suspensions = chance(0.3) ? 0 : number(1, 3);
    }
    const bool in_segments = form.varied && callback.suspensions > 0 &&
                             callback.suspensions <= callback.suspension.count() &&
                             callback.suspensions < worst && chance(0.5);
    if (in_segments) {
      add_segments(callback, worst);
    }
    if (form.varied) {
      callback.jitter = nanoseconds{chance(0.15) ? number(1, period / 2) : 0};
      task.group = chance(0.15) && !form.across && !task.waits ? "g" : "";
    }
    if (form.varied && !app.callbacks.empty() && chance(0.3)) {
      release_by_messages(app, callback);
    }
    if (!in_segments && chance(0.8)) {
      add_sections(app, form, callback, 0, worst, 0);
    }
    for (const application::CriticalSection& section : callback.critical_sections) {
      const std::string& name = app.locks[section.lock].name;
      if (!form.across && std::ranges::find(task.locks, name) == task.locks.end()) {
        task.locks.push_back(name);
      }
    }
    app.callbacks.push_back(std::move(callback));
  }

  // Its work and its waits in parts of known lengths.
  void add_segments(application::Callback& callback, std::int64_t worst) {
    std::int64_t computes = worst;
    std::int64_t waits = callback.suspension.count();
    for (std::int64_t left = callback.suspensions; left > 0; --left) {
      const std::int64_t part = number(1, computes - left);
      const std::int64_t wait = number(1, waits - left + 1);
      callback.segments.push_back({.shortest = nanoseconds{part}, .longest = nanoseconds{part}});
      callback.segments.push_back(
          {.shortest = nanoseconds{number(0, wait)}, .longest = nanoseconds{wait}});
      computes -= part;
      waits -= wait;
    }
    callback.suspension -= nanoseconds{waits};
    callback.segments.push_back(
        {.shortest = nanoseconds{computes}, .longest = nanoseconds{computes}});
    callback.execution = {
        .best = nanoseconds{worst}, .worst = nanoseconds{worst}, .quantiles = {nanoseconds{worst}}};
  }

  // Of a callback before it, on its own core or another one; some of them form a chain.
  void release_by_messages(application::Application& app, application::Callback& callback) {
    sched::Task& task = callback.task;
    const auto writer =
        static_cast<std::size_t>(number(0, static_cast<std::int64_t>(app.callbacks.size()) - 1));
    application::Callback& before = app.callbacks[writer];
    task.kind = sched::TaskKind::message;
    task.parameters.period = task.parameters.offset = nanoseconds{0};
    task.trigger = "t" + std::to_string(app.topics.size());
    before.task.writes.push_back(task.trigger);
    app.topics.push_back({.name = task.trigger, .depth = 8});
    app.chains.push_back({.name = "from " + before.task.name + " to " + task.name,
                          .callbacks = {before.task.name, task.name}});
  }

  // Within [from, to), of locks from `first` on, so that there is no circle.
  void add_sections(const application::Application& app, const LocksForm& form,
                    application::Callback& callback, std::int64_t from, std::int64_t to,
                    std::size_t first) {
    while (from < to && first < app.locks.size() && chance(0.7)) {
      const std::int64_t begin = number(from, to - 1);
      const std::int64_t length = number(1, to - begin);
      const auto lock = static_cast<std::size_t>(number(
          static_cast<std::int64_t>(first), static_cast<std::int64_t>(app.locks.size()) - 1));
      from = begin + length;
      if (first > 0 && app.locks[lock].protocol != app.locks[first - 1].protocol) {
        continue;  // does not nest with the one around
      }
      callback.critical_sections.push_back(
          {.lock = lock,
           .begin = nanoseconds{begin},
           .shortest = nanoseconds{form.varied && chance(0.3) ? number(0, length) : length},
           .longest = nanoseconds{length}});
      if (!form.across) {
        add_sections(app, form, callback, begin, begin + length, lock + 1);
      }
    }
  }
};

inline std::string text(const application::Application& app) {
  std::string result =
      app.policy + ", overheads " + std::to_string(app.overheads.preemption.count());
  for (const application::Lock& lock : app.locks) {
    result += "; " + lock.name +
              (lock.protocol == application::LockProtocol::ceiling ? " ceiling" : " inheritance");
  }
  for (const application::Callback& callback : app.callbacks) {
    const sched::TaskParameters& parameters = callback.task.parameters;
    result += "; " + callback.task.name + " P=" + std::to_string(parameters.priority) +
              (callback.task.trigger.empty() ? "" : " on " + callback.task.trigger) +
              (callback.task.cpu < 0 ? "" : " on core " + std::to_string(callback.task.cpu)) +
              " T=" + std::to_string(parameters.period.count()) +
              " D=" + std::to_string(parameters.deadline.count()) +
              " O=" + std::to_string(parameters.offset.count()) +
              " C=" + std::to_string(callback.execution.best.count()) + ".." +
              std::to_string(callback.execution.worst.count()) +
              " J=" + std::to_string(callback.jitter.count()) + " G=" + callback.task.group +
              " S=" + std::to_string(callback.suspension.count()) + " in " +
              std::to_string(callback.suspensions);
    for (const std::string& written : callback.task.writes) {
      result += " writes " + written;
    }
    for (const application::CriticalSection& section : callback.critical_sections) {
      result += " l" + std::to_string(section.lock) + "[" + std::to_string(section.begin.count()) +
                ", " + std::to_string(section.end().count()) + ")";
    }
  }
  return result;
}

}  // namespace takt::analysis
