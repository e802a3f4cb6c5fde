// SPDX-License-Identifier: Apache-2.0
//
// Applications as documents, in short. One tick is one nanosecond.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"

namespace takt::analysis {

inline application::Application parsed(std::string json) {
  std::ranges::replace(json, '\'', '"');
  return application::parse(json);
}

inline Report analyse_json(const std::string& json) {
  return analyse(parsed(json));
}

inline const CallbackReport& callback(const ScenarioReport& scenario, std::string_view name) {
  return *std::ranges::find(scenario.callbacks, name, &CallbackReport::name);
}

inline std::string timer(const std::string& name, int period, int worst, int priority,
                         const std::string& more = "") {
  return "{'name': '" + name + "', 'period': " + std::to_string(period) +
         ", 'priority': " + std::to_string(priority) +
         ", 'execution': {'worst': " + std::to_string(worst) + "}" + more + "}";
}

inline std::string message(const std::string& name, const std::string& topic, int worst,
                           int priority, const std::string& more = "") {
  return "{'name': '" + name + "', 'kind': 'message', 'trigger': '" + topic +
         "', 'overrun': 'catch_up', 'priority': " + std::to_string(priority) +
         ", 'execution': {'worst': " + std::to_string(worst) + "}" + more + "}";
}

inline std::string app(const std::string& callbacks, const std::string& more = "") {
  return "{'version': 1, 'name': 'test', 'callbacks': [" + callbacks + "]" + more + "}";
}

inline bool contains(const std::vector<std::string>& remarks, const std::string& words) {
  return std::ranges::any_of(
      remarks, [&](const std::string& remark) { return remark.find(words) != std::string::npos; });
}

}  // namespace takt::analysis
