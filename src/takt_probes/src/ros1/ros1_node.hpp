// SPDX-License-Identifier: Apache-2.0
//
// This process as a node of ROS 1. roscpp has one node per process and waits for its master without
// end; here the wait is bounded, and what is missing is said.
#pragma once

#include <ros/callback_queue.h>
#include <ros/node_handle.h>

#include "takt/os/stop.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// Makes this process a node, once. The threads of roscpp inherit from the thread that calls it.
/// Throws Failure when there is no master.
void start_ros1(const Options& options, const os::StopFlag& stop);

/// Takes the node back: tells the master, ends the threads. Nothing when it was not started.
void end_ros1();

/// Callbacks that run on the probe's own thread, as ros::spin() would run them.
class CallbackLane {
 public:
  CallbackLane() { handle.setCallbackQueue(&queue_); }

  /// Runs callbacks until `done` holds, waiting for them as the options say; false at `deadline` or
  /// when a stop is requested.
  template <class Condition>
  bool run_until(os::TimePoint deadline, const Options& options, const os::StopFlag& stop,
                 const Condition& done) {
    do {
      call_one(deadline, options);
      if (done()) {
        return true;
      }
    } while (!stop.requested() && os::now() < deadline);
    return false;
  }

  ros::NodeHandle handle;

 private:
  void call_one(os::TimePoint deadline, const Options& options);

  ros::CallbackQueue queue_;
};

}  // namespace takt::probe
