// SPDX-License-Identifier: Apache-2.0
//
// Prints what arrives on the topic chatter. The middleware only notifies; this thread takes.
// Usage: listener [messages (default: to Ctrl-C)] [--ros-args …]
#include <cstdint>
#include <cstdio>
#include <std_msgs/msg/string.hpp>
#include <string>
#include <takt/os/event.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>

#include "number_argument.hpp"

int main(int argc, char** argv) try {
  const takt::Context context{argc, argv};
  const auto& arguments = context.get_non_ros_arguments();
  std::uint32_t missing = number_argument(arguments, 1, "messages", UINT32_MAX);

  takt::os::Event wake;  // before the subscription, whose callback uses it
  takt::os::StopFlag stop;
  stop.attach(wake);
  const takt::os::StopOnSignal on_signal{stop};
  const takt::Node node{context, "listener"};
  const auto in = node.create_subscription<std_msgs::msg::String>("chatter", takt::QoS{1000});
  in->set_on_new_message_callback([&wake](std::size_t) noexcept { wake.notify(); });

  std_msgs::msg::String message;
  takt::MessageInfo info;
  while (missing > 0 && !stop.requested()) {
    wake.wait();
    while (missing > 0 && in->take(message, info)) {
      std::puts(message.data.c_str());
      --missing;
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "listener: %s\n", error.what());
  return 1;
}
