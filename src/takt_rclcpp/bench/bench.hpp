// SPDX-License-Identifier: Apache-2.0
//
// bench_rclcpp: one measurement of one executor a run, with unmodified rclcpp nodes, as JSON. The
// tool interleaves the runs and judges; here nothing is judged.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/rclcpp/any_executor.hpp>
#include <vector>

namespace takt::bench {

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr int priority = 40;  // of everything in the process, SCHED_FIFO

struct Settings {
  std::string mode;
  std::string executor{"takt"};
  int cpu{0};             // where everything of the process runs
  std::size_t domain{0};  // of ROS
  nanoseconds duration{1s};
  std::size_t threads{2};    // of executors that have several
  int callbacks{10};         // timers, messages
  bool spread{false};        // timers: releases one after the other, not all at once
  bool intra_process{true};  // messages
  std::size_t payload{500};  // pingpong: bytes
  int nodes{51};             // life
};

// Each answers with its figures.
Json timers(const Settings& settings);
Json messages(const Settings& settings);
Json pingpong(const Settings& settings);
Json burns(const Settings& settings);
Json wakeup(const Settings& settings);
Json life(const Settings& settings);

// The one that the settings name; Takt's has fixed priorities: `rule`, and 40 where it says none.
std::unique_ptr<rclcpp::Executor> make_executor(const Settings& settings,
                                                takt_rclcpp::TimingRule rule = {});

// Nodes of ten callbacks each, as applications have them.
std::vector<std::shared_ptr<rclcpp::Node>> make_nodes(const std::string& name, int callbacks,
                                                      bool intra_process = false);
constexpr int callbacks_of_node = 10;

// spin() on this thread until `conduct` has returned, which runs on another; throws what it throws.
void spin(rclcpp::Executor& executor, const std::function<void()>& conduct);

// Times in ns from several threads, while it is told to take them.
class Times {
 public:
  explicit Times(std::size_t capacity) : values_(capacity) {}
  void add(nanoseconds value) noexcept {
    if (taking_.load(std::memory_order_relaxed)) {
      const std::size_t at = count_.fetch_add(1, std::memory_order_relaxed);
      if (at < values_.size()) values_[at] = value.count();
    }
  }
  void take(bool taking) noexcept { taking_.store(taking); }
  [[nodiscard]] std::size_t count() const noexcept { return count_.load(); }
  // "p50_us", "p99_us", "max_us" of the nearest rank; zeros where there are none.
  [[nodiscard]] Json figures() const;

 private:
  std::vector<std::int64_t> values_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> taking_{false};
};

// What a timer's callback is told: how long after it was due does it begin?
inline nanoseconds lateness(const rclcpp::TimerInfo& info) {
  return os::now().time_since_epoch() - nanoseconds{info.expected_call_time.nanoseconds()};
}

}  // namespace takt::bench
