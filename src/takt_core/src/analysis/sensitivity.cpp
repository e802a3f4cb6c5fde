// SPDX-License-Identifier: Apache-2.0
#include "sensitivity.hpp"

namespace takt::analysis {
namespace {

constexpr double precision = 1.001;
constexpr double least = 1e-3;
constexpr double most = 1e6;
constexpr std::int64_t steps_of_one = 2'000'000;

bool accepted(ScenarioModel& model, double factor, std::size_t callback, Graphs graphs) {
  model.scale(factor, callback);
  Effort effort{.steps = steps_of_one};
  return model.accepts(effort, graphs) == true;
}

// The largest factor that is accepted; 0 when none is.
double largest(ScenarioModel& model, std::size_t callback, Graphs graphs) {
  double low = 1;
  double high = 1;
  if (accepted(model, 1, callback, graphs)) {
    do {
      low = high;
      high *= 2;
    } while (high < most && accepted(model, high, callback, graphs));
    if (high >= most) {
      low = high = most;
    }
  } else {
    do {
      high = low;
      low /= 2;
      if (low < least) {
        model.scale(1, callback);
        return 0;
      }
    } while (!accepted(model, low, callback, graphs));
  }
  while (high > low * precision) {
    const double middle = low + (high - low) / 2;
    (accepted(model, middle, callback, graphs) ? low : high) = middle;
  }
  model.scale(1, callback);
  return low;
}

}  // namespace

std::optional<Sensitivity> find_sensitivity(ScenarioModel& model,
                                            const application::Application& application,
                                            Graphs graphs) {
  if (graphs != Graphs::none && !accepted(model, 1, nobody, graphs)) {
    return {};
  }
  Sensitivity result;
  if (const double all = largest(model, nobody, graphs); all > 0) {
    result.all = all;
  }
  std::vector<bool> seen(application.callbacks.size(), false);
  for (const Stream& stream : model.streams()) {
    seen[stream.callback] = true;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) {
      result.callbacks.emplace_back(application.callbacks[i].task.name, largest(model, i, graphs));
    }
  }
  return result;
}

}  // namespace takt::analysis
