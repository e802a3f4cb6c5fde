// SPDX-License-Identifier: Apache-2.0
/// @file
/// The flat form of an application: one JSON document with all defaults filled in and all times in
/// whole nanoseconds. `./takt` writes it from app.yaml; it is not meant to be written by hand.
///
/// ```text
/// {"version": 1, "name": "docking", "policy": "edf", "cpus": [1],
///  "callbacks": [{"name": "radar.scan", "node": "radar", "kind": "timer" | "message",
///     "trigger": "topic of a message callback", "period": 0, "offset": 0, "deadline": 0,
///     "priority": 0, "execution": {"best": 0, "worst": 0, "quantiles": [0]}, "jitter": 0,
///     "suspension": 0, "suspensions": 0, "segments": [{"shortest": 1, "longest": 2}], "budget": 0,
///     "overrun": "skip" | "queue_one" | "catch_up", "active": true, "group": "", "cpu": -1,
///     "reads": [{"topic": "scan", "max_age": 0}], "writes": ["scan"], "messages": {"scan": 1},
///     "critical_sections": [{"lock": "map", "begin": 0, "shortest": 0, "longest": 1}]}],
///  "locks": [{"name": "map", "protocol": "inheritance" | "ceiling"}],
///  "topics": [{"name": "scan", "bytes": 512, "depth": 1, "reliable": true, "external": false,
///     "external_period": 0}],
///  "chains": [{"name": "brake", "callbacks": ["radar.scan", "guard.brake"], "max_latency": 0}],
///  "scenarios": [{"name": "docking", "policy": "fp",
///     "tasks": [{"task": "guard.brake", "period": 5000000, "priority": 90, ...}]}],
///  "default_scenario": "docking",
///  "cores": [{"cpu": 1, "latency": 0, "supply": {"budget": 8000000, "period": 10000000},
///     "interrupts": [{"period": 1000000, "duration": 20000, "burst": 1}],
///     "measured": {"windows": 300, "window": 100000000}}],
///  "switches": [{"at": 0, "scenario": "docking"}],
///  "overheads": {"dispatch": 0, "preemption": 0, "release": 0, "publish": 0,
///     "publish_per_kib": 0, "deliver": 0, "deliver_per_kib": 0},
///  "processes": [{"name": "control", "executor": "takt", "policy": "fp", "cpu": 0,
///     "priority": 80}], "handover": {"least": 0, "most": 0},
///  "links": [{"hosts": ["arm", "base"], "least": 0, "most": 0, "loss": 0}]}
/// ```
///
/// With processes, each callback has the name of its "process". A supply is a budget and its
/// period, or {"rate": 900000000, "delay": 2000000}, the rate in billionths of the core. Required
/// are only version, name and callbacks (name, execution.worst); other keys have the defaults of
/// application.hpp. A task of a scenario may have: period, offset, deadline, priority,
/// expected_execution, budget, overrun, active, reads, writes.
#pragma once

#include <string>
#include <string_view>

#include "takt/application/application.hpp"
#include "takt/sched/error.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

/// A document is not in the flat form: names the wrong key, its place (a JSON pointer) and the
/// allowed values.
class TAKT_CORE_PUBLIC ParseError : public Error {
 public:
  /// @param path JSON pointer (RFC 6901) to the wrong key; empty: the whole document.
  /// @param problem what is wrong, without a final full stop.
  ParseError(const std::string& path, const std::string& problem)
      : Error(path.empty() ? "the application" : path, problem,
              "let ./takt write this form from an app.yaml", path) {}
  ParseError(const ParseError&) = default;
  ParseError& operator=(const ParseError&) = default;
  ParseError(ParseError&&) = default;
  ParseError& operator=(ParseError&&) = default;
  ~ParseError() override;
};

/// Reads an application. Whether its tasks are consistent is checked later, by sched::TaskSet.
/// @throws ParseError for a text that is not in this form, also for unknown keys.
/// @throws sched::ScheduleError for an unknown policy.
TAKT_CORE_PUBLIC Application parse(std::string_view json);

}  // namespace takt::application
