// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <takt/os/thread.hpp>
#include <takt/sched/policies.hpp>
#include <utility>

#include "bench.hpp"

namespace takt::bench {

std::unique_ptr<rclcpp::Executor> make_executor(const Settings& settings,
                                                takt_rclcpp::TimingRule rule) {
  takt_rclcpp::Options options;
  options.scheduling.policy = sched::fixed_priority();
  options.scheduling.cpus = {settings.cpu};
  options.scheduling.on_not_granted = [](const auto&) {};  // of the same thing main() tells
  options.timing = std::move(rule);
  options.default_priority = priority;
  return takt_rclcpp::make_executor(settings.executor, std::move(options), settings.threads);
}

std::vector<std::shared_ptr<rclcpp::Node>> make_nodes(const std::string& name, int callbacks,
                                                      bool intra_process) {
  std::vector<std::shared_ptr<rclcpp::Node>> nodes;
  for (int i = 0; i * callbacks_of_node < callbacks; ++i) {
    nodes.push_back(std::make_shared<rclcpp::Node>(
        name + std::to_string(i), rclcpp::NodeOptions{}.use_intra_process_comms(intra_process)));
  }
  return nodes;
}

void spin(rclcpp::Executor& executor, const std::function<void()>& conduct) {
  std::atomic<bool> returned{false};
  auto conducted = std::async(std::launch::async, [&] {
    // Above all callbacks, or those that follow each other without a pause would never let it go
    // on.
    os::apply({.policy = os::SchedulingPolicy::fifo, .priority = os::max_priority});
    std::exception_ptr failure;
    try {
      conduct();
    } catch (...) {
      failure = std::current_exception();
    }
    while (!returned.load()) {  // one that has not begun to spin yet forgets a cancel()
      executor.cancel();
      os::sleep_until(os::now() + 1ms);
    }
    if (failure) std::rethrow_exception(failure);
  });
  try {
    executor.spin();
  } catch (...) {
    returned.store(true);
    conducted.wait();
    throw;
  }
  returned.store(true);
  conducted.get();
}

Json Times::figures() const {
  std::vector<std::int64_t> sorted{
      values_.begin(),
      values_.begin() + static_cast<std::ptrdiff_t>(std::min(count(), values_.size()))};
  std::ranges::sort(sorted);
  const auto us = [&](double p) {
    if (sorted.empty()) return 0.0;
    const auto last = static_cast<double>(sorted.size() - 1);
    return static_cast<double>(sorted[static_cast<std::size_t>(p * last + 0.5)]) / 1000;
  };
  return {{"p50_us", us(0.5)}, {"p99_us", us(0.99)}, {"max_us", us(1)}};
}

}  // namespace takt::bench
