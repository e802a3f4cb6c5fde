// SPDX-License-Identifier: Apache-2.0
//
// The flat form of an application: one JSON document, all defaults filled in, all times in whole
// nanoseconds. `./takt` writes it from app.yaml; nobody writes it by hand.
//
//   {"version": 1, "name": "docking", "policy": "edf", "cpus": [1],
//    "callbacks": [{"name": "radar.scan", "node": "radar", "kind": "timer" | "message",
//       "trigger": "topic of a message callback", "period": 0, "offset": 0, "deadline": 0,
//       "priority": 0, "execution": {"best": 0, "worst": 0, "quantiles": [0]}, "jitter": 0,
//       "suspension": 0, "suspensions": 0, "budget": 0, "overrun": "skip" | "queue_one" |
//       "catch_up", "active": true, "group": "", "cpu": -1, "reads": [{"topic": "scan", "max_age":
//       0}], "writes": ["scan"]}],
//    "topics": [{"name": "scan", "bytes": 512, "depth": 1, "reliable": true, "external": false,
//       "external_period": 0}],
//    "chains": [{"name": "brake", "callbacks": ["radar.scan", "guard.brake"], "max_latency": 0}],
//    "scenarios": [{"name": "docking", "policy": "fp",
//       "tasks": [{"task": "guard.brake", "period": 5000000, "priority": 90, ...}]}],
//    "default_scenario": "docking",
//    "switches": [{"at": 0, "scenario": "docking"}],
//    "overheads": {"dispatch": 0, "preemption": 0, "release": 0, "publish": 0,
//       "publish_per_kib": 0, "deliver": 0, "deliver_per_kib": 0}}
//
// Only version, name and callbacks (name, execution.worst) must be there; other keys have the
// defaults of application.hpp. A task of a scenario may have: period, offset, deadline, priority,
// expected_execution, budget, overrun, active, reads, writes.
#pragma once

#include <string>
#include <string_view>

#include "takt/application/application.hpp"
#include "takt/sched/error.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

// Which key is wrong, where (a JSON pointer), and what is allowed.
class TAKT_CORE_PUBLIC ParseError : public Error {
 public:
  ParseError(const std::string& path, const std::string& problem)
      : Error(path.empty() ? "the application" : path, problem,
              "let ./takt write this form from an app.yaml", path) {}
};

// Throws ParseError for a text that is not this form (also for unknown keys), sched::ScheduleError
// for an unknown policy. Whether the tasks make sense together is checked by sched::TaskSet.
TAKT_CORE_PUBLIC Application parse(std::string_view json);

}  // namespace takt::application
