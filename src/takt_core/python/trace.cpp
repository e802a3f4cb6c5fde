// SPDX-License-Identifier: Apache-2.0
//
// Traces for Python: what the core reads and derives, as columns of numpy. A trace of hours is
// larger than memory: it comes in steps.
#include "trace.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "columns.hpp"
#include "errors.hpp"
#include "takt/trace/flows.hpp"
#include "takt/trace/reader.hpp"
#include "takt/trace/timeline.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt::trace {
namespace {

nb::dict texts(const std::map<std::uint16_t, std::string>& names) {
  nb::dict result;
  for (const auto& [number, name] : names) {
    result[nb::int_(number)] = text(name);
  }
  return result;
}

nb::list attributes(const TraceFile& file) {
  nb::list result;
  for (const std::string& one : file.about().attributes) {
    result.append(text(one));
  }
  return result;
}

std::string source(const TraceFile& file) {
  switch (file.about().source) {
    case Source::executor:
      return "executor";
    case Source::simulator:
      return "simulator";
  }
  return "source " + std::to_string(static_cast<std::uint32_t>(file.about().source));
}

nb::dict columns(std::vector<Event> events) {
  return Columns{std::move(events)}
      .add("time", &Event::time)
      .add("job", &Event::job)
      .add("value", &Event::value)
      .add("task", &Event::task)
      .add("topic", &Event::topic)
      .add("core", &Event::core)
      .add("type", &Event::type)
      .add("detail", &Event::detail)
      .dict();
}

nb::dict columns(std::vector<Job> jobs) {
  return Columns{std::move(jobs)}
      .add("serial", &Job::serial)
      .add("task", &Job::task)
      .add("job", &Job::job)
      .add("core", &Job::core)
      .add("priority", &Job::priority)
      .add("release", &Job::release)
      .add("start", &Job::start)
      .add("end", &Job::end)
      .add("deadline", &Job::deadline)
      .add("running", &Job::running)
      .add("cpu_time", &Job::cpu_time)
      .add("waited_before", &Job::waited_before)
      .add("waited", &Job::waited)
      .add("sleeps", &Job::sleeps)
      .add("preemptions", &Job::preemptions)
      .add("missed", &Job::missed)
      .add("by_deadline", &Job::by_deadline)
      .dict();
}

nb::dict columns(std::vector<Slice> slices) {
  return Columns{std::move(slices)}
      .add("serial", &Slice::serial)
      .add("task", &Slice::task)
      .add("job", &Slice::job)
      .add("core", &Slice::core)
      .add("begin", &Slice::begin)
      .add("end", &Slice::end)
      .add("started", &Slice::started)
      .dict();
}

nb::dict columns(std::vector<Use> uses) {
  return Columns{std::move(uses)}
      .add("time", &Use::time)
      .add("task", &Use::task)
      .add("job", &Use::job)
      .add("topic", &Use::topic)
      .add("sequence", &Use::sequence)
      .add("newest", &Use::newest)
      .add("age", &Use::age)
      .add("started", &Use::started)
      .dict();
}

nb::dict columns(std::vector<Arrival> arrivals) {
  return Columns{std::move(arrivals)}
      .add("chain", &Arrival::chain)
      .add("age", &Arrival::age)
      .add("reaction", &Arrival::reaction)
      .add("release", &Arrival::release)
      .add("first", &Arrival::first)
      .dict();
}

struct Step {
  nb::dict events;
  nb::dict jobs;
  nb::dict unfinished;
  nb::dict slices;
  nb::dict uses;
  nb::dict arrivals;
  nb::object handovers;
  std::int64_t settled = 0;
};

class Replay {
 public:
  Replay(TraceFile& file, const Flows::Chains& chains, const Flows::Joins& joins)
      : file_{file}, timeline_{file.about()}, flows_{file.about(), chains, joins} {
    file_.rewind();
  }

  std::optional<Step> step() {
    if (closed_) {
      return std::nullopt;
    }
    std::vector<Event> events;
    {
      const nb::gil_scoped_release release;
      events = file_.next();
      for (const Event& event : events) {
        timeline_.take(event);
        flows_.take(event);
      }
      if (events.empty()) {
        timeline_.close();
        closed_ = true;
      }
    }
    return Step{.events = columns(std::move(events)),
                .jobs = columns(std::exchange(timeline_.jobs, {})),
                .unfinished = columns(timeline_.unfinished()),
                .slices = columns(std::exchange(timeline_.slices, {})),
                .uses = columns(std::exchange(flows_.uses, {})),
                .arrivals = columns(std::exchange(flows_.arrivals, {})),
                .handovers = column(std::exchange(flows_.handovers, {})),
                .settled = timeline_.settled()};
  }

  [[nodiscard]] std::uint64_t not_nested() const { return timeline_.not_nested(); }

  [[nodiscard]] std::map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> executions()
      const {
    std::map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> result;
    for (const auto& [task, found] : flows_.executions()) {
      result[task] = {found.all, found.on_old_data};
    }
    return result;
  }

 private:
  TraceFile& file_;
  Timeline timeline_;
  Flows flows_;
  bool closed_ = false;
};

void bind_types(nb::module_& module) {
  nb::enum_<EventType>(module, "EventType", nb::is_arithmetic(),
                       "What happened; what the fields mean is said in docs/reference/trace.md.")
      .value("piece_of_name", EventType::name)
      .value("release", EventType::release)
      .value("skip", EventType::skip)
      .value("start", EventType::start)
      .value("preempt", EventType::preempt)
      .value("resume", EventType::resume)
      .value("end", EventType::end)
      .value("deadline_miss", EventType::deadline_miss)
      .value("deliver", EventType::deliver)
      .value("age_violation", EventType::age_violation)
      .value("budget_overrun", EventType::budget_overrun)
      .value("early_release", EventType::early_release)
      .value("scenario", EventType::scenario)
      .value("overflow", EventType::overflow)
      .value("publish", EventType::publish)
      .value("use", EventType::use)
      .value("stolen", EventType::stolen)
      .value("dispatch", EventType::dispatch)
      .value("wait", EventType::wait)
      .value("boost", EventType::boost)
      .value("lock_wait", EventType::lock_wait)
      .value("lock", EventType::lock);
  module.attr("NO_TASK") = no_task;  // no topic and no core, too
  module.attr("NO_DEADLINE") = no_deadline;
  module.attr("NOT_RECORDED") = not_recorded;
}

}  // namespace

void bind(nb::module_& module) {
  bind_types(module);
  nb::class_<TraceFile>(module, "Trace", "A trace file: all of it but its events.")
      .def(nb::init<const std::string&, std::size_t>(), "path"_a,
           "block"_a = TraceFile::block_records,
           "Raises OSError when it cannot be read, Error when it is no trace.")
      .def_prop_ro("source", &source)
      .def_prop_ro("closed_in_order",
                   [](const TraceFile& file) { return file.about().closed_in_order; })
      .def_prop_ro("lost", [](const TraceFile& file) { return file.about().lost; })
      .def_prop_ro("write_error", [](const TraceFile& file) { return file.about().write_error; })
      .def_prop_ro("realtime_offset_ns",
                   [](const TraceFile& file) { return file.about().realtime_offset.count(); })
      .def_prop_ro("tasks", [](const TraceFile& file) { return texts(file.about().tasks); })
      .def_prop_ro("topics", [](const TraceFile& file) { return texts(file.about().topics); })
      .def_prop_ro("scenarios", [](const TraceFile& file) { return texts(file.about().scenarios); })
      .def_prop_ro("attributes", &attributes)
      .def_prop_ro("events", [](const TraceFile& file) { return file.about().count; })
      .def_prop_ro("unknown", [](const TraceFile& file) { return file.about().unknown; });
  nb::class_<Step>(
      module, "Step",
      "A stretch of a trace. Each table is a dict of columns; times in ns, NOT_RECORDED\n"
      "where the trace does not tell. Meanings: takt/trace/timeline.hpp, flows.hpp.")
      .def_ro("events", &Step::events, "By time.")
      .def_ro("jobs", &Step::jobs, "Those of which no further event will come.")
      .def_ro("unfinished", &Step::unfinished, "Those that are in no step yet.")
      .def_ro("slices", &Step::slices, "Those that have ended.")
      .def_ro("uses", &Step::uses)
      .def_ro("arrivals", &Step::arrivals)
      .def_ro("handovers", &Step::handovers)
      .def_ro("settled", &Step::settled, "All slices that began before are known.");
  nb::class_<Replay>(module, "Replay", "A trace from its begin, step by step; one at a time.")
      .def(nb::init<TraceFile&, const Flows::Chains&, const Flows::Joins&>(), "trace"_a,
           "chains"_a = Flows::Chains{}, "joins"_a = Flows::Joins{}, nb::keep_alive<1, 2>())
      .def("step", &Replay::step, "The next stretch; None after the last one.")
      .def_prop_ro("not_nested", &Replay::not_nested, "Jobs whose slices are a guess.")
      .def_prop_ro("executions", &Replay::executions,
                   "By task: all that ended so far, and those on old data.");
}

}  // namespace takt::trace
