// SPDX-License-Identifier: Apache-2.0
//
// Round trips by pointer between two nodes of one process, each as soon as the last one is back.
#include <nlohmann/json.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "bench.hpp"

namespace takt::bench {

Json pingpong(const Settings& settings) {
  using Message = takt_interfaces::msg::Sample;
  constexpr std::size_t room = 4'000'000;
  const auto intra = rclcpp::NodeOptions{}.use_intra_process_comms(true);
  const auto ping = std::make_shared<rclcpp::Node>("ping", intra);
  const auto pong = std::make_shared<rclcpp::Node>("pong", intra);
  const auto there = ping->create_publisher<Message>("there", 1);
  const auto back = pong->create_publisher<Message>("back", 1);
  Times times{room};
  std::atomic<bool> ended{false};
  const auto send = [&](std::unique_ptr<Message> message) {
    message->sent_ns = os::now().time_since_epoch().count();
    there->publish(std::move(message));
  };
  const auto replying = pong->create_subscription<Message>(
      "there", 1, [&](std::unique_ptr<Message> message) { back->publish(std::move(message)); });
  const auto hearing =
      ping->create_subscription<Message>("back", 1, [&](std::unique_ptr<Message> message) {
        times.add(os::now() - os::TimePoint{nanoseconds{message->sent_ns}});
        if (!ended.load(std::memory_order_relaxed)) send(std::move(message));
      });
  const auto executor = make_executor(settings);
  executor->add_node(ping);
  executor->add_node(pong);
  spin(*executor, [&] {
    auto message = std::make_unique<Message>();
    message->payload.resize(settings.payload);
    send(std::move(message));
    os::sleep_until(os::now() + 100ms);
    times.take(true);
    os::sleep_until(os::now() + settings.duration);
    times.take(false);
    ended.store(true);
    os::sleep_until(os::now() + 10ms);
  });
  Json figures = times.figures();
  figures["round_trips"] = times.count();
  return figures;
}

}  // namespace takt::bench
