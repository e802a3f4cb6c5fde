// SPDX-License-Identifier: Apache-2.0
#include "offsets.hpp"

#include <algorithm>

#include "random.hpp"
#include "takt/os/saturating.hpp"

namespace takt::sim {
namespace {

// The other streams are in model.cpp and withheld.cpp.
constexpr std::uint64_t first_stream = std::uint64_t{1} << 37U;

}  // namespace

bool has_any_offset(const application::Application& application) noexcept {
  return std::ranges::any_of(application.callbacks, [](const application::Callback& callback) {
    return callback.task.any_offset;
  });
}

application::Application with_drawn_offsets(const application::Application& application,
                                            std::uint64_t seed) {
  application::Application result = application;
  for (std::size_t i = 0; i < result.callbacks.size(); ++i) {
    application::Callback& callback = result.callbacks[i];
    sched::TaskParameters& parameters = callback.task.parameters;
    if (callback.task.any_offset) {
      const RandomStream draws{seed, first_stream + i - callback.lane};
      const auto lanes = static_cast<std::int64_t>(callback.lanes);
      parameters.offset =
          os::add_sat(parameters.offset, uniform(draws.at(0), parameters.period / lanes));
    }
  }
  return result;
}

}  // namespace takt::sim
