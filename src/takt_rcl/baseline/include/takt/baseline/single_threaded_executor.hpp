// SPDX-License-Identifier: Apache-2.0
//
// baseline0: what Takt is compared with. One thread, one wait set over everything, and the order of
// rclcpp's SingleThreadedExecutor: each time the wait set wakes, all timers that are due then run
// in the order of their registration, and after them one message of each subscription that had one
// then. What becomes due meanwhile waits for the next time. There are no priorities, and a timer
// never sees a message that its own cycle produced.
//
// Casini et al., "Response-time analysis of ROS 2 processing chains under reservation-based
// scheduling" (ECRTS 2019), describe that order; Blass et al. (RTSS 2021) that timers belong to the
// snapshot too. As in rclcpp the wait set is filled anew each time, so its cost grows with the
// number of timers and subscriptions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>

namespace takt::baseline {

struct Options {
  std::filesystem::path trace{};  // as an executor writes it; empty: none
  std::size_t trace_capacity{16384};
};

class SingleThreadedExecutor {
 public:
  // Throws RclError; std::system_error for a trace that cannot be created.
  explicit SingleThreadedExecutor(const Context& context, const Options& options = {});
  ~SingleThreadedExecutor();
  SingleThreadedExecutor(const SingleThreadedExecutor&) = delete;
  SingleThreadedExecutor& operator=(const SingleThreadedExecutor&) = delete;
  SingleThreadedExecutor(SingleThreadedExecutor&&) = delete;
  SingleThreadedExecutor& operator=(SingleThreadedExecutor&&) = delete;

  // Adds all timers and subscriptions that the node has now; timers start to count here. Before the
  // spinning. Throws RclError; std::logic_error for a subscription with intra-process delivery,
  // which no wait set sees (ContextOptions::use_intra_process).
  void add_node(const Node& node);

  // Returns after request_stop(). The trace is complete then. Throws RclError.
  void spin();
  // The same, and ends when `stop` is requested, by a signal for one.
  void spin(os::StopFlag& stop);

  // Ends after the callback that runs. From any thread and callback.
  void request_stop() noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::baseline
