// SPDX-License-Identifier: Apache-2.0
#include "spinner.hpp"

#include <exception>
#include <rclcpp/create_timer.hpp>
#include <takt/rclcpp/any_executor.hpp>
#include <utility>

#include "takt/probe/conditions.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

takt_rclcpp::Options scheduling_of(const Options& options, const os::ThreadSettings& role) {
  takt_rclcpp::Options scheduling;
  scheduling.scheduling.cpus = role.cpus;
  scheduling.scheduling.real_time = options.real_time();
  scheduling.scheduling.lock_memory = options.real_time();
  // The result document says what was granted.
  scheduling.scheduling.on_not_granted = [](const os::SettingsNotGranted& /*settings*/) {};
  scheduling.default_priority = options.real_time() ? options.priority : 1;
  return scheduling;
}

}  // namespace

Spinner::Spinner(const Options& options, Role role, const rclcpp::Node::SharedPtr& node,
                 os::StopFlag& stop) {
  os::ThreadSettings settings = settings_of(options, role);
  settings.name = "takt.spin";
  executor_ = takt_rclcpp::make_executor(options.executor, scheduling_of(options, settings));
  executor_->add_node(node);
  // Shared with a call that may come once more after the timer has been cancelled.
  const auto ready = std::make_shared<os::Event>();
  stop.attach(*ready);
  // Not every executor tells whether it spins, and some need a while until they execute.
  const auto first_call = node->create_wall_timer(1ms, [ready] { ready->notify(); });
  thread_.emplace(settings, [this, &stop] {
    try {
      executor_->spin();
    } catch (const std::exception& error) {
      failure_ = error.what();
      stop.request();
    }
    ended_.store(true);
  });
  ready->wait();
  stop.detach(*ready);
  first_call->cancel();
}

Spinner::~Spinner() {
  while (!ended_.load()) {  // one that has not begun to spin yet forgets a cancel()
    executor_->cancel();
    os::sleep_until(os::now() + 1ms);
  }
  thread_->join();
}

std::optional<os::NotGranted> Spinner::problem() const {
  if (!ended_.load() || failure_.empty()) {
    return {};
  }
  return os::NotGranted{.what = "the executor stopped",
                        .why = failure_,
                        .fix = "choose another --executor, --period-ns, --priority or --cpu"};
}

}  // namespace takt::probe
