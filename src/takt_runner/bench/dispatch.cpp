// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the whole process for each executed callback. Timers of 10 ms with empty callbacks;
// or half of the callbacks are subscriptions, each with a message of 16 bytes from a timer.
#include <atomic>
#include <std_msgs/msg/color_rgba.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/usage.hpp>
#include <takt/rcl/node.hpp>

#include "application.hpp"

namespace takt::bench {

using Message16 = std_msgs::msg::ColorRGBA;  // four floats

void dispatch(const Settings& settings) {
  constexpr nanoseconds period = 10ms;
  stay_on(settings.cpu);
  const Context context{
      ContextOptions{.use_intra_process = settings.by_pointer && settings.executor == "takt"}};
  std::atomic<std::uint64_t> executed{0};
  const auto count = [&executed] { executed.fetch_add(1, std::memory_order_relaxed); };

  const int timers = settings.subscriptions ? (settings.callbacks + 1) / 2 : settings.callbacks;
  std::vector<Member> members;
  std::vector<std::shared_ptr<PublisherBase>> publishers;
  for (int i = 0; i < timers; ++i) {
    const Node node{context, "node" + std::to_string(i)};
    Member member{.node = node,
                  .timer = nullptr,
                  .priority = 40 + i % settings.priorities,
                  .offset = settings.spread ? i * period / timers : 0ns};
    if (settings.subscriptions && timers + i < settings.callbacks) {
      const std::string topic = "topic" + std::to_string(i);
      const auto publisher = node.create_publisher<Message16>(topic, QoS{1});
      member.timer = node.create_timer(period, [count, publisher] {
        static_cast<void>(publisher->publish(Message16{}));
        count();
      });
      member.subscription = node.create_subscription<Message16>(
          topic, QoS{1}, [count](const Message16&) { count(); });
      publishers.push_back(publisher);
    } else {
      member.timer = node.create_timer(period, count);
    }
    members.push_back(std::move(member));
  }
  wait_for_readers(publishers);

  const auto application = make_application(settings, context, std::move(members));
  application->start();
  os::sleep_until(os::now() + 10 * period);
  const os::ResourceUsage before = os::resource_usage(os::UsageOf::process);
  const std::uint64_t first = executed.load();
  const os::TimePoint begin = os::now();
  os::sleep_until(begin + settings.duration);
  const os::ResourceUsage used = os::resource_usage(os::UsageOf::process) - before;
  const std::uint64_t callbacks = executed.load() - first;
  const nanoseconds elapsed = os::now() - begin;
  application->stop();
  const double expected = static_cast<double>(settings.callbacks) *
                          static_cast<double>(elapsed.count()) /
                          static_cast<double>(period.count());
  const auto cpu_us = static_cast<double>(used.cpu_time.count()) / 1000;
  print_document(settings, {{"callbacks", callbacks},
                            {"cpu_us_per_callback",
                             cpu_us / static_cast<double>(callbacks == 0 ? 1 : callbacks)},
                            {"executed_share", static_cast<double>(callbacks) / expected},
                            {"switches", used.voluntary_switches + used.involuntary_switches}});
}

}  // namespace takt::bench
