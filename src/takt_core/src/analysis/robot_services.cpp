// SPDX-License-Identifier: Apache-2.0
#include "robot_services.hpp"

#include <algorithm>

#include "../application/requests.hpp"
#include "../application/robot.hpp"
#include "methods.hpp"
#include "robot_words.hpp"

namespace takt::analysis {

std::vector<Served> served_elsewhere(const application::Application& process,
                                     const ScenarioModel& model, const ScenarioBounds& bounds) {
  std::vector<Served> result;
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    const application::Callback& server = process.callbacks[model.streams()[stream].callback];
    if (!server.server || model.streams()[stream].cause() != nobody) {
      continue;
    }
    const bool loses = application::is_requested(server.task.trigger) &&
                       model.may_lose_requests(model.streams()[stream].callback, bounds.responses);
    const auto response =
        bounds.converged && !loses ? bounds.responses[stream].bound : std::nullopt;
    const auto known = std::ranges::find(result, server.task.trigger, &Served::service);
    if (known == result.end()) {
      result.push_back({.service = server.task.trigger, .response = response});
    } else {
      known->response =
          known->response && response ? std::max(known->response, response) : std::nullopt;
    }
  }
  return result;
}

bool await_responses(application::Application& view, const application::Application& robot,
                     std::size_t number, const std::vector<const std::vector<Served>*>& served) {
  bool any = false;
  for (application::Callback& client : view.callbacks) {
    for (application::Segment& segment : client.segments) {
      const std::size_t server = segment.call.empty() ? 0 : robot.server_of(segment.call);
      if (segment.call.empty() || robot.callbacks[server].process == number) {
        continue;
      }
      any = true;
      const std::size_t there = robot.callbacks[server].process;
      const application::Process& own = robot.processes[number];
      const application::Handover* const way =
          application::between(robot, robot.processes[there], own);
      const application::Link* const link =
          application::find_link(robot, own, robot.processes[there]);
      const std::int64_t drift = link == nullptr ? 0 : link->drift;
      const auto found = std::ranges::find(*served[there], segment.call, &Served::service);
      if (way == nullptr || (found != served[there]->end() && !found->response)) {
        continue;
      }
      // The way there is part of the response, as the lateness of the request.
      if (found != served[there]->end()) {
        segment.longest = slower(*found->response, drift) + way->most;
        segment.shortest = faster(2 * way->least, drift);
      }
      segment.call.clear();
      client.suspension += segment.longest;
    }
  }
  return any;
}

void name_calls(ScenarioReport& report, const application::Application& robot) {
  for (CallbackReport& one : report.callbacks) {
    const bool concerned =
        std::ranges::any_of(robot.callbacks, [&](const application::Callback& callback) {
          return callback.task.name == one.name && (callback.server || callback.calls());
        });
    if (concerned && one.response && one.bound_by.find(methods::calls) == std::string::npos) {
      one.bound_by += methods::calls;
    }
  }
}

}  // namespace takt::analysis
