// SPDX-License-Identifier: Apache-2.0
//
// What an application declares, as far as metrics and explanations of its traces go by it.
#include "declared.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/application/parse.hpp"
#include "takt/application/threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt::application {
namespace {

struct DeclaredCallback {
  std::string name;
  std::string node;
  bool timer = true;
  std::int64_t period = 0;
  std::int64_t offset = 0;
  bool active = true;
  std::string group;
  std::vector<std::string> locks;
  std::int64_t worst = 0;
  std::map<std::string, std::int64_t> worst_in;  // by scenario, where that declares another one
  std::int64_t overhead = 0;
  std::int64_t suspension = 0;
  bool calls = false;
  std::map<std::string, std::int64_t> reads;
};

struct DeclaredChain {
  std::string name;
  std::vector<std::string> callbacks;
  std::int64_t max_latency = 0;
};

struct Declared {
  std::string name;
  std::string scenario;  // that it starts with; empty: it has none
  std::vector<DeclaredCallback> callbacks;
  std::vector<DeclaredChain> chains;
  bool switches = false;
  bool overheads = false;
};

// A topic as the description names it; ROS puts a slash before it.
std::string plain(const std::string& topic) {
  return topic.starts_with('/') ? topic.substr(1) : topic;
}

// What the scenarios that the application comes to, by its own account, say of the callback.
std::vector<const sched::TaskChange*> changes_of(const Application& application,
                                                 const std::string& task) {
  const sched::SchedulingStrategy& strategy = *application.strategy;
  std::set<std::size_t> followed{strategy.default_scenario()};
  for (const Switch& change : application.switches) {
    followed.insert(strategy.find(change.scenario).value_or(strategy.default_scenario()));
  }
  std::vector<const sched::TaskChange*> changes;
  for (const std::size_t scenario : followed) {
    const auto& tasks = strategy.scenarios()[scenario]->tasks();
    const auto found = std::ranges::find(tasks, task, &sched::TaskChange::task);
    changes.push_back(found == tasks.end() ? nullptr : &*found);
  }
  return changes;
}

// The strictest of the limits that these scenarios set; 0: none does.
std::int64_t max_age(const sched::Read& read,
                     const std::vector<const sched::TaskChange*>& changes) {
  std::int64_t strictest = 0;
  for (const sched::TaskChange* const change : changes) {
    nanoseconds limit = read.max_age;
    if (change != nullptr) {
      const auto own = std::ranges::find(change->reads, read.topic, &sched::Read::topic);
      if (own != change->reads.end() && own->max_age.count() != 0) {
        limit = own->max_age;
      }
    }
    if (limit.count() != 0 && (strictest == 0 || limit.count() < strictest)) {
      strictest = limit.count();
    }
  }
  return strictest;
}

// As it is in the scenario that the application starts with.
void apply_first(DeclaredCallback& result, const sched::SchedulingScenario& first) {
  const auto change = std::ranges::find(first.tasks(), result.name, &sched::TaskChange::task);
  if (change == first.tasks().end()) {
    return;
  }
  result.period = change->period.value_or(nanoseconds{result.period}).count();
  result.offset = change->offset.value_or(nanoseconds{result.offset}).count();
  result.active = change->active.value_or(result.active);
}

std::vector<std::string> locks_of(const Application& application, const Callback& callback) {
  std::vector<std::string> names;
  for (const application::CriticalSection& section : callback.critical_sections) {
    const std::string& name = application.locks[section.lock].name;
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

DeclaredCallback declared(const Application& application, const Callback& callback) {
  const sched::Task& task = callback.task;
  const nanoseconds overhead = application.worst_overhead(callback, task);
  DeclaredCallback result{.name = task.name,
                          .node = callback.node_name(),
                          .timer = task.kind == sched::TaskKind::timer,
                          .period = task.parameters.period.count(),
                          .offset = task.parameters.offset.count(),
                          .active = task.parameters.active,
                          .group = task.group,
                          .locks = locks_of(application, callback),
                          .worst = (callback.execution.worst + overhead).count(),
                          .worst_in = {},
                          .overhead = overhead.count(),
                          .suspension = callback.calls() ? nanoseconds{sched::longest_time}.count()
                                                         : callback.suspension.count(),
                          .calls = callback.calls(),
                          .reads = {}};
  const std::vector<const sched::TaskChange*> changes =
      application.strategy ? changes_of(application, task.name)
                           : std::vector<const sched::TaskChange*>{nullptr};
  for (const sched::Read& read : task.reads) {
    result.reads[plain(read.topic)] = max_age(read, changes);
  }
  if (!application.strategy) {
    return result;
  }
  const auto& scenarios = application.strategy->scenarios();
  apply_first(result, *scenarios[application.strategy->default_scenario()]);
  for (const sched::ScenarioPtr& scenario : scenarios) {
    for (const sched::TaskChange& change : scenario->tasks()) {
      if (change.task == task.name && change.expected_execution) {
        result.worst_in[scenario->name()] = (*change.expected_execution + overhead).count();
      }
    }
  }
  return result;
}

std::string first_scenario(const Application& application) {
  if (!application.strategy) {
    return {};
  }
  return application.strategy->scenarios()[application.strategy->default_scenario()]->name();
}

using Topics = std::vector<std::string>;

std::map<std::string, std::pair<Topics, Topics>> topics_of_scenarios(std::string_view json) {
  const Application application = parse(json).with_topics_of_scenarios();
  std::map<std::string, std::pair<Topics, Topics>> topics;
  for (const Callback& callback : application.callbacks) {
    auto& [reads, writes] = topics[callback.task.name];
    std::ranges::transform(callback.task.reads, std::back_inserter(reads), &sched::Read::topic);
    writes = callback.task.writes;
  }
  return topics;
}

// Whose jobs a trace has beside those of nodes.
enum class Threads : std::uint8_t { none, drivers, all };

Application parse_with(Threads threads, std::string_view json) {
  switch (threads) {
    case Threads::drivers:
      return with_drivers(parse(json));
    case Threads::all:
      return with_threads(parse(json));
    default:
      return parse(json);
  }
}

// Without scenarios: of an execution that knows none, the baselines'.
Declared declared(std::string_view json, bool scenarios, Threads threads) {
  Application application = parse_with(threads, json);
  if (scenarios) {
    application = application.with_topics_of_scenarios();
  } else {
    application.strategy.reset();
    application.switches.clear();
    for (Callback& callback : application.callbacks) {
      callback.task.parameters.active = true;
    }
  }
  Declared result{.name = application.name,
                  .scenario = first_scenario(application),
                  .callbacks = {},
                  .chains = {},
                  .switches = !application.switches.empty(),
                  .overheads = application.overheads.any()};
  for (const Callback& callback : application.callbacks) {
    result.callbacks.push_back(declared(application, callback));
  }
  for (const Chain& chain : application.chains) {
    result.chains.push_back({.name = chain.name,
                             .callbacks = chain.callbacks,
                             .max_latency = chain.max_latency.count()});
  }
  return result;
}

}  // namespace

void bind(nb::module_& module) {
  nb::class_<DeclaredCallback>(module, "DeclaredCallback", "One callback; times in ns.")
      .def_ro("name", &DeclaredCallback::name)
      .def_ro("node", &DeclaredCallback::node)
      .def_ro("timer", &DeclaredCallback::timer)
      .def_ro("period", &DeclaredCallback::period, "In the scenario that it starts with.")
      .def_ro("offset", &DeclaredCallback::offset, "The same.")
      .def_ro("active", &DeclaredCallback::active, "The same.")
      .def_ro("group", &DeclaredCallback::group)
      .def_ro("locks", &DeclaredCallback::locks, "Those of its critical sections.")
      .def_ro("worst", &DeclaredCallback::worst,
              "CPU time of a job at most, with what messages and dispatching are said to cost.")
      .def_ro("worst_in", &DeclaredCallback::worst_in,
              "The same in each scenario that declares another one.")
      .def_ro("overhead", &DeclaredCallback::overhead, "That part of it.")
      .def_ro("suspension", &DeclaredCallback::suspension,
              "The longest that a job sleeps or waits for a device in total; without a limit if it "
              "calls.")
      .def_ro("calls", &DeclaredCallback::calls, "Whether it waits for responses of services.")
      .def_ro(
          "reads", &DeclaredCallback::reads,
          "By topic the oldest data that it may use, 0: any; of the scenarios that it comes to, "
          "by its own account, the strictest one's.");
  nb::class_<DeclaredChain>(module, "DeclaredChain", "A path of data; times in ns.")
      .def_ro("name", &DeclaredChain::name)
      .def_ro("callbacks", &DeclaredChain::callbacks)
      .def_ro("max_latency", &DeclaredChain::max_latency, "0: unconstrained.");
  nb::class_<Declared>(module, "Declared", "What metrics and explanations need of an application.")
      .def_ro("name", &Declared::name)
      .def_ro("scenario", &Declared::scenario, "That it starts with; empty: it has none.")
      .def_ro("callbacks", &Declared::callbacks)
      .def_ro("chains", &Declared::chains)
      .def_ro("switches", &Declared::switches, "Whether scenarios change while it runs.")
      .def_ro("overheads", &Declared::overheads, "Whether it declares any.");
  nb::enum_<Threads>(module, "Threads", "Whose jobs a trace has beside those of nodes.")
      .value("none", Threads::none)
      .value("drivers", Threads::drivers, "An execution: Takt runs them itself.")
      .value("all", Threads::all, "A simulation: those of the middleware, too.");
  module.def(
      "declared",
      [](std::string_view json, bool scenarios, Threads threads) {
        return declared(json, scenarios, threads);
      },
      "json"_a, "scenarios"_a = true, "threads"_a = Threads::none,
      "What an application in its flat form declares; without scenarios, to who knows none and "
      "lets all callbacks run; with the jobs of these threads. Raises Error for "
      "what is not this form.");
  module.def(
      "node_priorities", [](std::string_view json) { return parse(json).node_priorities(); },
      "json"_a,
      "The priority of each node as a process of its own: the highest of its callbacks, "
      "rate-monotonic where they have none. Raises Error for what is not an application.");
  module.def(
      "topics_of_scenarios", topics_of_scenarios, "json"_a,
      "By callback the topics that it reads and those that it writes, with what any scenario adds. "
      "Raises Error for what is not an application.");
}

}  // namespace takt::application
