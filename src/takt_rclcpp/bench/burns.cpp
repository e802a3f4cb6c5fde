// SPDX-License-Identifier: Apache-2.0
//
// A timer of 100 Hz in one node while a timer of another one burns 20 ms of every 50 ms; and the
// same two without any executor: threads that the kernel wakes.
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <takt/os/thread.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

constexpr nanoseconds short_period = 10ms;
constexpr nanoseconds long_period = 50ms;
constexpr nanoseconds burning = 20ms;
constexpr int urgent = priority + 10;

void burn() {
  const auto end = os::now() + burning;
  while (os::now() < end) {
  }
}

Json figures_of(const Times& times, const Settings& settings) {
  Json figures = times.figures();
  figures["calls_share"] = static_cast<double>(times.count()) *
                           static_cast<double>(short_period.count()) /
                           static_cast<double>(settings.duration.count());
  return figures;
}

std::size_t room(const Settings& settings) {
  return static_cast<std::size_t>(settings.duration / short_period) * 2 + 100;
}

}  // namespace

Json burns(const Settings& settings) {
  const auto fast = std::make_shared<rclcpp::Node>("fast");
  const auto slow = std::make_shared<rclcpp::Node>("slow");
  Times late{room(settings)};
  const auto control = fast->create_wall_timer(
      short_period, [&](const rclcpp::TimerInfo& info) { late.add(lateness(info)); });
  const auto work = slow->create_wall_timer(long_period, burn);
  const auto executor = make_executor(settings, [](const takt_rclcpp::CallbackId& id) {
    const bool is_control = id.node == "/fast" && id.kind == takt_rclcpp::CallbackKind::timer;
    return takt_rclcpp::Timing{.priority = is_control ? urgent : 0};
  });
  executor->add_node(fast);
  executor->add_node(slow);
  spin(*executor, [&] {
    os::sleep_until(os::now() + 4 * long_period);
    late.take(true);
    os::sleep_until(os::now() + settings.duration);
    late.take(false);
  });
  return figures_of(late, settings);
}

Json wakeup(const Settings& settings) {
  Times late{room(settings)};
  late.take(true);
  const auto settings_of = [&](int level) {
    return os::ThreadSettings{
        .policy = os::SchedulingPolicy::fifo, .priority = level, .cpus = {settings.cpu}};
  };
  const auto end = os::now() + settings.duration;
  const auto every = [end](nanoseconds period, const std::function<void(nanoseconds)>& work) {
    for (auto next = os::now() + period; next < end; next += period) {
      os::sleep_until(next);
      work(os::now() - next);
    }
  };
  os::Thread burner{settings_of(priority),
                    [&] { every(long_period, [](nanoseconds) { burn(); }); }};
  os::Thread control{settings_of(urgent),
                     [&] { every(short_period, [&](nanoseconds by) { late.add(by); }); }};
  control.join();
  burner.join();
  return figures_of(late, settings);
}

}  // namespace takt::bench
