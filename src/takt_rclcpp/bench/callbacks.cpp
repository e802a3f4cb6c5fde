// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the whole process for each executed callback, and how late timers are: timers of
// 10 ms with empty callbacks; or half of the callbacks are subscriptions of other nodes, each with
// a message of 16 bytes from a timer.
#include <nlohmann/json.hpp>
#include <std_msgs/msg/color_rgba.hpp>
#include <stdexcept>
#include <takt/os/usage.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

constexpr nanoseconds period = 10ms;

using Message16 = std_msgs::msg::ColorRGBA;  // four floats
using Timers = std::vector<rclcpp::TimerBase::SharedPtr>;

// Due a part of the period after each other, or as near as a loop over them sets it.
void set_phases(const Timers& timers, bool spread) {
  const auto begin = os::now();
  for (std::size_t i = 0; i < timers.size(); ++i) {
    if (spread) {
      os::sleep_until(begin + static_cast<std::int64_t>(i) * period /
                                  static_cast<std::int64_t>(timers.size()));
    }
    timers[i]->reset();
  }
}

Json measure(const Settings& settings, const std::vector<std::shared_ptr<rclcpp::Node>>& nodes,
             const Timers& timers, std::atomic<std::uint64_t>& executed, Times& lateness) {
  const auto executor = make_executor(settings);
  for (const auto& node : nodes) executor->add_node(node);
  set_phases(timers, settings.spread);
  Json figures;
  spin(*executor, [&] {
    os::sleep_until(os::now() + 20 * period);
    lateness.take(true);
    const os::ResourceUsage before = os::resource_usage(os::UsageOf::process);
    const std::uint64_t first = executed.load();
    const os::TimePoint begin = os::now();
    os::sleep_until(begin + settings.duration);
    const os::ResourceUsage used = os::resource_usage(os::UsageOf::process) - before;
    const std::uint64_t callbacks = executed.load() - first;
    const nanoseconds elapsed = os::now() - begin;
    lateness.take(false);
    const double expected = static_cast<double>(settings.callbacks) *
                            static_cast<double>(elapsed.count()) /
                            static_cast<double>(period.count());
    figures = {{"callbacks", callbacks},
               {"cpu_us_per_callback", static_cast<double>(used.cpu_time.count()) / 1000 /
                                           static_cast<double>(callbacks == 0 ? 1 : callbacks)},
               {"executed_share", static_cast<double>(callbacks) / expected},
               {"switches_per_s",
                static_cast<double>(used.voluntary_switches + used.involuntary_switches) * 1e9 /
                    static_cast<double>(elapsed.count())}};
  });
  figures.update(lateness.figures());
  return figures;
}

std::size_t room(const Settings& settings) {
  return static_cast<std::size_t>(settings.callbacks) *
         (static_cast<std::size_t>(settings.duration / period) * 2 + 100);
}

}  // namespace

Json timers(const Settings& settings) {
  std::atomic<std::uint64_t> executed{0};
  Times late{room(settings)};
  const auto nodes = make_nodes("timers", settings.callbacks);
  Timers all;
  for (int i = 0; i < settings.callbacks; ++i) {
    all.push_back(nodes[static_cast<std::size_t>(i / callbacks_of_node)]->create_wall_timer(
        period, [&](const rclcpp::TimerInfo& info) {
          late.add(lateness(info));
          executed.fetch_add(1, std::memory_order_relaxed);
        }));
  }
  return measure(settings, nodes, all, executed, late);
}

Json messages(const Settings& settings) {
  std::atomic<std::uint64_t> executed{0};
  Times late{room(settings)};
  const int pairs = (settings.callbacks + 1) / 2;
  auto nodes = make_nodes("publishing", pairs, settings.intra_process);
  const auto readers = make_nodes("reading", pairs, settings.intra_process);
  Timers all;
  std::vector<std::shared_ptr<rclcpp::Publisher<Message16>>> publishers;
  std::vector<std::shared_ptr<rclcpp::SubscriptionBase>> subscriptions;
  for (int i = 0; i < pairs; ++i) {
    const auto node = static_cast<std::size_t>(i / callbacks_of_node);
    const std::string topic = "topic" + std::to_string(i);
    const auto publisher = nodes[node]->create_publisher<Message16>(topic, 1);
    all.push_back(
        nodes[node]->create_wall_timer(period, [&, publisher](const rclcpp::TimerInfo& info) {
          late.add(lateness(info));
          publisher->publish(std::make_unique<Message16>());
          executed.fetch_add(1, std::memory_order_relaxed);
        }));
    subscriptions.push_back(readers[node]->create_subscription<Message16>(
        topic, 1, [&](std::unique_ptr<Message16> /*message*/) {
          executed.fetch_add(1, std::memory_order_relaxed);
        }));
    publishers.push_back(publisher);
  }
  const auto patience = os::now() + 20s;
  for (const auto& publisher : publishers) {  // the middleware matches them in its own time
    while (publisher->get_subscription_count() == 0) {
      if (os::now() > patience) throw std::runtime_error{"a publisher found no subscription"};
      os::sleep_until(os::now() + 1ms);
    }
  }
  nodes.insert(nodes.end(), readers.begin(), readers.end());
  return measure(settings, nodes, all, executed, late);
}

}  // namespace takt::bench
