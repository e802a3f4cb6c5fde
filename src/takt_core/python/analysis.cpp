// SPDX-License-Identifier: Apache-2.0
//
// The analysis for Python: documents in, documents out; times in the documents are in microseconds.
#include "analysis.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "interruptible.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/analysis/batch.hpp"
#include "takt/application/parse.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt::analysis {
namespace {

nb::object microseconds(nanoseconds time) {
  return nb::float_(static_cast<double>(time.count()) / 1000.0);
}

nb::object microseconds(const std::optional<nanoseconds>& time) {
  return time ? microseconds(*time) : nb::none();
}

nb::object named(const std::vector<std::pair<std::string, int>>& pairs) {
  if (pairs.empty()) {
    return nb::none();
  }
  nb::dict result;
  for (const auto& [name, value] : pairs) {
    result[name.c_str()] = value;
  }
  return result;
}

template <class Items, class Function>
nb::list list_of(const Items& items, const Function& function) {
  nb::list result;
  for (const auto& item : items) {
    result.append(function(item));
  }
  return result;
}

nb::dict document(const CallbackReport& callback) {
  nb::dict result;
  result["name"] = callback.name;
  result["cpu"] = callback.cpu;
  result["host"] = callback.host.empty() ? nb::none() : nb::object(nb::str(callback.host.c_str()));
  result["priority"] =
      callback.priority == 0 ? nb::none() : nb::object(nb::int_(callback.priority));
  result["period_us"] = microseconds(callback.period);
  result["deadline_us"] = microseconds(callback.deadline);
  result["wcet_us"] = microseconds(callback.wcet);
  result["suspension_us"] = microseconds(callback.suspension);
  result["jitter_us"] = microseconds(callback.jitter);
  result["response_us"] = microseconds(callback.response);
  result["blocking_us"] = microseconds(callback.blocking);
  result["locks"] =
      list_of(callback.locks, [](const std::string& lock) { return nb::str(lock.c_str()); });
  result["meets"] = callback.verdict == Verdict::meets;
  result["verdict"] = text(callback.verdict);
  result["exact"] = callback.exact;
  result["bound_by"] = callback.bound_by;
  return result;
}

nb::dict document(const CoreReport& core) {
  nb::dict result;
  result["cpu"] = core.cpu;
  result["host"] = core.host.empty() ? nb::none() : nb::object(nb::str(core.host.c_str()));
  result["process"] = core.process.empty() ? nb::none() : nb::object(nb::str(core.process.c_str()));
  const bool endless = core.utilization > 1e9;  // a release without least distance
  result["utilization"] = endless ? nb::none() : nb::object(nb::float_(core.utilization));
  result["schedulable"] = core.verdict == Verdict::meets;
  result["verdict"] = text(core.verdict);
  result["bound_by"] =
      core.bound_by.empty() ? nb::none() : nb::object(nb::str(core.bound_by.c_str()));
  return result;
}

const char* text(LatencyTerm::Kind kind) {
  switch (kind) {
    case LatencyTerm::Kind::handover:
      return "handover";
    case LatencyTerm::Kind::link:
      return "link";
    case LatencyTerm::Kind::wait:
      return "wait";
    case LatencyTerm::Kind::thread:
      return "thread";
    case LatencyTerm::Kind::process:
      break;
  }
  return "process";
}

nb::dict document(const LatencyTerm& term) {
  nb::dict result;
  result["kind"] = text(term.kind);
  result["name"] = term.name;
  result["time_us"] = microseconds(term.time);
  return result;
}

nb::dict document(const ChainReport& chain) {
  nb::dict result;
  result["name"] = chain.name;
  result["callbacks"] =
      list_of(chain.callbacks, [](const std::string& name) { return nb::str(name.c_str()); });
  result["latency_us"] = microseconds(chain.latency);
  result["terms"] = list_of(chain.terms, [](const LatencyTerm& term) { return document(term); });
  result["loss"] = static_cast<double>(chain.loss) / static_cast<double>(application::Link::whole);
  result["max_latency_us"] = microseconds(chain.max_latency);
  result["reaction_us"] = microseconds(chain.reaction);
  result["age_us"] = microseconds(chain.age);
  result["meets"] = chain.verdict == Verdict::meets;
  result["bound_by"] = chain.bound_by;
  return result;
}

nb::dict document(const AgeReport& age) {
  nb::dict result;
  result["callback"] = age.callback;
  result["topic"] = age.topic;
  result["source"] = age.source.empty() ? nb::none() : nb::object(nb::str(age.source.c_str()));
  result["age_us"] = microseconds(age.age);
  result["max_age_us"] = microseconds(age.max_age);
  result["meets"] = age.verdict == Verdict::meets;
  result["bound_by"] = age.bound_by;
  return result;
}

nb::object document(const std::optional<Sensitivity>& sensitivity) {
  if (!sensitivity) {
    return nb::none();
  }
  nb::dict result;
  result["factor"] = sensitivity->all ? nb::object(nb::float_(*sensitivity->all)) : nb::none();
  nb::dict callbacks;
  for (const auto& [name, factor] : sensitivity->callbacks) {
    callbacks[name.c_str()] = factor > 0 ? nb::object(nb::float_(factor)) : nb::none();
  }
  result["callbacks"] = callbacks;
  return result;
}

nb::dict document(const ScenarioReport& scenario) {
  const auto each = [](const auto& item) { return document(item); };
  nb::dict result;
  result["name"] = scenario.name;
  result["policy"] = scenario.policy;
  result["schedulable"] = scenario.deadlines == Verdict::meets;
  result["verdict"] = text(scenario.verdict);
  result["cores"] = list_of(scenario.cores, each);
  result["callbacks"] = list_of(scenario.callbacks, each);
  result["chains"] = list_of(scenario.chains, each);
  result["ages"] = list_of(scenario.ages, each);
  result["sensitivity"] = document(scenario.sensitivity);
  nb::dict proposals;
  proposals["priorities"] = named(scenario.priorities);
  proposals["cpus"] = named(scenario.cpus);
  nb::dict processes;
  for (const application::Process& one : scenario.processes) {
    nb::dict process;
    process["policy"] = one.policy;
    process["cpu"] = one.cpu;
    process["priority"] = one.priority;
    process["reservation"] = nb::none();
    if (one.reservation) {
      nb::dict reservation;
      reservation["runtime"] = one.reservation->runtime.count();
      reservation["deadline"] = one.reservation->deadline.count();
      reservation["period"] = one.reservation->period.count();
      process["reservation"] = reservation;
    }
    processes[one.name.c_str()] = process;
  }
  proposals["processes"] = processes;
  result["proposals"] = proposals;
  result["remarks"] =
      list_of(scenario.remarks, [](const std::string& remark) { return nb::str(remark.c_str()); });
  return result;
}

nb::object document(const std::optional<SwitchReport>& switches) {
  if (!switches) {
    return nb::none();
  }
  nb::dict result;
  result["meets"] = switches->verdict == Verdict::meets;
  result["bound_by"] = switches->bound_by;
  const auto times = [](const std::map<std::string, nanoseconds>& bounds) {
    nb::dict found;
    for (const auto& [name, time] : bounds) {
      found[name.c_str()] = microseconds(time);
    }
    return found;
  };
  result["responses_us"] = times(switches->responses);
  result["latencies_us"] = times(switches->latencies);
  return result;
}

nb::object overheads_of(const application::Overheads& overheads) {
  if (!overheads.any()) {
    return nb::none();
  }
  nb::dict result;
  result["dispatch_us"] = microseconds(overheads.dispatch);
  result["preemption_us"] = microseconds(overheads.preemption);
  result["release_us"] = microseconds(overheads.release);
  result["publish_us"] = microseconds(overheads.publish);
  result["publish_per_kib_us"] = microseconds(overheads.publish_per_kib);
  result["deliver_us"] = microseconds(overheads.deliver);
  result["deliver_per_kib_us"] = microseconds(overheads.deliver_per_kib);
  return result;
}

nb::dict analyse_document(std::string_view json, bool sensitivity, bool proposals,
                          const nb::object& progress) {
  std::atomic<std::size_t> callbacks_done = 0;
  std::atomic<std::size_t> callbacks = 0;
  const Report report = interruptible(
      [&](const std::atomic<bool>& stop) {
        return analyse(application::parse(json),
                       {.sensitivity = sensitivity,
                        .proposals = proposals,
                        .stop = &stop,
                        .progress = [&](std::size_t done, std::size_t all) {
                          callbacks_done = done;
                          callbacks = all;
                        }});
      },
      [&] {
        if (!progress.is_none() && callbacks > 0) {
          progress(callbacks_done.load(), callbacks.load());
        }
      });
  nb::dict result;
  result["schema_version"] = 1;
  result["application"] = report.application;
  result["policy"] = report.policy;
  result["verdict"] = text(report.verdict);
  result["overheads"] = overheads_of(report.overheads);
  result["scenarios"] = list_of(report.scenarios, [](const auto& each) { return document(each); });
  result["switches"] = document(report.switches);
  result["remarks"] =
      list_of(report.remarks, [](const std::string& remark) { return nb::str(remark.c_str()); });
  return result;
}

std::vector<bool> analyse_many(const std::vector<std::string>& documents) {
  return interruptible(
      [&](const std::atomic<bool>&) {
        std::vector<bool> accepted;
        accepted.reserve(documents.size());
        for (const std::string& document : documents) {
          accepted.push_back(accepts(application::parse(document)));
        }
        return accepted;
      },
      [] {});
}

template <typename Value>
using Column = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object analyse_columns(const std::string& policy, const Column<std::int64_t>& first,
                           const Column<std::int64_t>& period, const Column<std::int64_t>& deadline,
                           const Column<std::int64_t>& wcet, const Column<std::int64_t>& priority) {
  const auto span = [](const Column<std::int64_t>& column) {
    return std::span{column.data(), column.size()};
  };
  return column(interruptible(
      [&](const std::atomic<bool>&) {
        return analyse_sets({.policy = policy,
                             .first = span(first),
                             .period = span(period),
                             .deadline = span(deadline),
                             .wcet = span(wcet),
                             .priority = span(priority)});
      },
      [] {}));
}

}  // namespace

void bind(nb::module_& module) {
  module.def(
      "analyse", &analyse_document, "json"_a, "sensitivity"_a = true, "proposals"_a = true,
      "progress"_a = nb::none(),
      "The document of `takt analyse --json` for an application in its flat form.\n"
      "progress(done, all) is called while it lasts: for how many callbacks it is known how\n"
      "much longer they may compute. A Ctrl-C ends it.\n"
      "Raises Error for a text that is not this form, and for an application that an\n"
      "executor refuses.");
  module.def("analyse_many", &analyse_many, "documents"_a,
             "For each application in its flat form, whether every deadline is guaranteed in\n"
             "every scenario. Raises as analyse().");
  module.def("analyse_sets", &analyse_columns, "policy"_a, "first"_a, "period"_a, "deadline"_a,
             "wcet"_a, "priority"_a,
             "The same for plain timers on one core, as columns of int64 (ns) over all sets, one\n"
             "after the other: first[i] is the row at which set i begins, its last entry the\n"
             "number of rows. Returns 1 for accepted, 0 for not, 2 for too much to compute.\n"
             "Raises ValueError for an unknown policy or one without a test, and for columns that\n"
             "do not fit together.");
}

}  // namespace takt::analysis
