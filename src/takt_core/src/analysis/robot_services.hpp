// SPDX-License-Identifier: Apache-2.0
//
// Calls of servers in other processes: for the client they are waits, for the server its requests
// come from outside (docs/reference/analysis.md, eq. 32).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/analysis/report.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// How long a server takes for requests from other processes.
struct Served {
  std::string service;
  std::optional<nanoseconds> response = {};  // nothing: no bound

  friend bool operator==(const Served&, const Served&) = default;
};

// Those of the servers of one process that are called from elsewhere, as far as calls are known.
std::vector<Served> served_elsewhere(const application::Application& process,
                                     const ScenarioModel& model, const ScenarioBounds& bounds);

// In the view of process `number`, each such call becomes a wait: for the response by `served` (by
// process) and the ways there and back. A call whose response has no bound stays one; one whose
// request is not known yet does not wait. Whether there are any.
bool await_responses(application::Application& view, const application::Application& robot,
                     std::size_t number, const std::vector<const std::vector<Served>*>& served);

// Names the source of what the responses of clients and servers follow from, where it is missing.
void name_calls(ScenarioReport& report, const application::Application& robot);

}  // namespace takt::analysis
