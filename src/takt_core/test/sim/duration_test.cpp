// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "takt/sim/simulation.hpp"

namespace takt::sim {
namespace {

using namespace std::chrono_literals;

TEST(SimDuration, is_two_hyperperiods_and_the_largest_offset_up_to_a_minute) {
  application::Application app{.name = "periods"};
  for (const auto& [period, offset] : {std::pair{6ms, 0ms}, std::pair{10ms, 4ms}}) {
    application::Callback callback;
    callback.task.name = std::to_string(period.count());
    callback.task.parameters.period = period;
    callback.task.parameters.offset = offset;
    app.callbacks.push_back(callback);
  }
  EXPECT_EQ(hyperperiod(app), 30ms);
  app.switches = {{.at = 2s, .scenario = "other"}};
  EXPECT_EQ(default_duration(app).time, 2s + 64ms);
  app.switches = {{.at = 59'950ms, .scenario = "other"}};
  EXPECT_EQ(default_duration(app).time, 60s);
  app.switches.clear();
  EXPECT_EQ(default_duration(app).time, 64ms);
  EXPECT_EQ(default_duration(app).reason, "two hyperperiods and the largest offset");
  app.topics.push_back({.name = "outside", .external = true, .external_period = 7ms});
  EXPECT_EQ(hyperperiod(app), 210ms);
  app.callbacks[0].task.parameters.period = 999'983'777ns;
  app.callbacks[1].task.parameters.period = 999'999'937ns;
  EXPECT_EQ(default_duration(app).time, 60s);
  EXPECT_EQ(default_duration(app).reason, "60 s");
  app.callbacks[0].task.parameters.active = false;
  app.callbacks[1].task.parameters.active = false;
  EXPECT_EQ(hyperperiod(app), 7ms);
  app.topics.clear();
  EXPECT_FALSE(hyperperiod(app));
}

}  // namespace
}  // namespace takt::sim
