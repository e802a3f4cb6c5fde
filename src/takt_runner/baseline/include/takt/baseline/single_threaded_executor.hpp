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

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>
#include <takt/trace/recorder.hpp>
#include <utility>
#include <vector>

namespace takt::baseline {

struct Options {
  std::filesystem::path trace{};  // as an executor writes it; empty: none
  std::size_t trace_capacity{16384};
  std::vector<std::pair<std::string, std::string>> trace_attributes{};
};

// What the trace must know of a callback; none of it changes the order of execution.
struct CallbackOptions {
  std::string name{};                    // else the entity's get_name()
  int priority{0};                       // of the thread that calls it
  std::chrono::nanoseconds deadline{0};  // relative; 0: a timer's period, else none
  std::chrono::nanoseconds offset{0};    // of a timer, see begin_at()
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
  // The same for one callback. A message counts as released when the wait set woke for it: when it
  // arrived, nobody notes.
  void add(const std::shared_ptr<Timer>& timer, const CallbackOptions& options = {});
  void add(const std::shared_ptr<SubscriptionBase>& subscription,
           const CallbackOptions& options = {});

  // Each timer calls for the first time at `start` plus its offset, and not one period after it was
  // added. Right before the spinning. Throws RclError.
  void begin_at(os::TimePoint start);

  // As executor::Executor's: the number of a topic in the trace, for what callbacks record; and a
  // recorder for a thread of the caller's.
  [[nodiscard]] std::uint16_t trace_topic(const std::string& topic);
  [[nodiscard]] trace::Recorder add_trace_thread();

  // Returns after request_stop(). The trace is complete then. Throws RclError.
  void spin();
  // The same, and ends when `stop` is requested, by a signal for one, or at `end`: after the
  // callback that runs then. It looks at the clock itself, because where its priority is the
  // highest and there is always something to do, no other thread gets to stop it.
  void spin(os::StopFlag& stop, os::TimePoint end = os::TimePoint::max());

  // Ends after the callback that runs. From any thread and callback.
  void request_stop() noexcept;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::baseline
