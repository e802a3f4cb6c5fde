// SPDX-License-Identifier: Apache-2.0
#include "parse_execution.hpp"

#include <algorithm>

namespace takt::application {

ExecutionTime parse_execution_time(const Json& json, const std::string& path) {
  Object object{json, path};
  ExecutionTime execution;
  execution.worst =
      nanoseconds{Object::integer<std::int64_t>(object.get("worst"), path + "/worst")};
  execution.best = execution.worst;
  object.read("best", execution.best);
  object.each("quantiles", [&](const Json& item, const std::string& at) {
    execution.quantiles.emplace_back(Object::integer<std::int64_t>(item, at));
  });
  object.finish();
  if (execution.best.count() < 0 || execution.best > execution.worst) {
    Object::fail(path, "best is not between 0 and worst");
  }
  if (!std::ranges::is_sorted(execution.quantiles)) {
    Object::fail(path + "/quantiles", "is not ascending");
  }
  if (!execution.quantiles.empty() && execution.quantiles.front().count() < 0) {
    Object::fail(path + "/quantiles", "has a negative time");
  }
  return execution;
}

}  // namespace takt::application
