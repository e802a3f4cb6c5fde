// SPDX-License-Identifier: Apache-2.0
//
// bench_record_ros CPU: what rclcpp's calls of tracetools cost, as JSON. It is run without and with
// the recorder before it: what that adds is the difference.
//
// The figure is the median over batches, in ns for each callback.
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tracetools/tracetools.h"

namespace {

constexpr std::size_t batches = 200;
constexpr int in_a_batch = 500;
constexpr std::array<char, 8> places{};  // addresses stand for what rclcpp has there

const void* address(std::size_t number) {
  return places.data() + number;
}

// What rclcpp calls for a callback of a subscription.
void callback() {
  ros_trace_rclcpp_executor_wait_for_work(-1);
  ros_trace_rclcpp_executor_execute(address(1));
  ros_trace_rmw_take(address(2), address(3), 0, true);
  ros_trace_rcl_take(address(3));
  ros_trace_rclcpp_take(address(3));
  ros_trace_callback_start(address(0), false);
  ros_trace_callback_end(address(0));
}

double median_ns() {
  std::array<double, batches> taken{};
  for (double& one : taken) {
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < in_a_batch; ++i) {
      callback();
    }
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - before;
    one = time.count() / in_a_batch;
  }
  std::ranges::sort(taken);
  return taken[batches / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bench_record_ros CPU\n", stderr);
    return 2;
  }
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(std::strtoul(argv[1], nullptr, 10)), &cpus);
  if (::sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
    std::perror("bench_record_ros: the CPU");
    return 1;
  }
  ros_trace_rcl_init(address(7));  // opens the recording, where there is one
  std::printf("{\"schema_version\":1,\"callback_ns\":%.1f}\n", median_ns());
  return 0;
}
