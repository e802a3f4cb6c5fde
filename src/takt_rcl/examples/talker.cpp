// SPDX-License-Identifier: Apache-2.0
//
// Publishes "hello 0", "hello 1", … on the topic chatter, each at its planned time.
// Usage: talker [messages (default: to Ctrl-C)] [period in ms (default: 100)] [--ros-args …]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <std_msgs/msg/string.hpp>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>

#include "number_argument.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const auto& arguments = context.get_non_ros_arguments();
  const std::uint32_t count = number_argument(arguments, 1, "messages", UINT32_MAX);
  const std::chrono::milliseconds period{number_argument(arguments, 2, "period", 100)};

  const takt::Node node{context, "talker"};
  const auto out = node.create_publisher<std_msgs::msg::String>("chatter", takt::QoS{1000});
  takt::os::StopFlag stop;
  const takt::os::StopOnSignal on_signal{stop};
  while (out->get_subscription_count() == 0) {
    if (stop.wait_until(takt::os::now() + 10ms)) return 0;
  }

  std_msgs::msg::String message;
  const auto start = takt::os::now();
  for (std::uint32_t i = 0; i < count; ++i) {
    if (stop.wait_until(start + i * period)) break;
    message.data = "hello " + std::to_string(i);
    if (!out->publish(message)) std::fprintf(stderr, "talker: %s\n", takt::last_error());
  }
  // What was published but not yet delivered would be lost with the publisher.
  if (!out->wait_for_all_acked(10s)) std::fprintf(stderr, "talker: not all were acknowledged\n");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "talker: %s\n", error.what());
  return 1;
}
