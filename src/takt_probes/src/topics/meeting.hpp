// SPDX-License-Identifier: Apache-2.0
//
// How the ends of a topic meet, so that nothing is lost to discovery.
//
// In ROS 2 the two sides of a match are found one after the other: a publisher that sees a
// subscription may still be unknown to it. So the passive end (pong, subscriber) creates its own
// publisher, on the way back, only when its subscription has found the active end. Seeing that
// publisher is the proof that it listens; no message is needed for it, and the first sample stays
// the first.
#pragma once

#include <chrono>
#include <string>

#include "takt/os/stop.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// The two topics of a connection: from the active end, and back to it.
inline std::string topic_there(const Options& options) {
  return options.topic;
}
inline std::string topic_back(const Options& options) {
  return options.topic + "/back";
}

inline bool is_active(Role role) {
  return role == Role::ping || role == Role::publisher;
}

/// Fast DDS hashes them when a process starts, to tell hosts apart.
inline constexpr const char* addresses =
    "; over shared memory of Fast DDS no network address of this machine may come or go between "
    "their starts";

/// Polls `met` until it holds; false when a stop is requested, throws Failure at the deadline.
template <class Condition>
bool wait_for_meeting(const Options& options, const os::StopFlag& stop, os::TimePoint deadline,
                      const Condition& met) {
  using namespace std::chrono_literals;
  while (!met()) {
    if (os::now() >= deadline) {
      throw Failure{{.what = "no other end was found on the topic " + options.topic,
                     .why = options.kind == Kind::pingpong
                                ? "no pong appeared in time"
                                : "fewer than " + std::to_string(options.subscribers) +
                                      " subscribers appeared in time",
                     .fix = "start it before this one, with the same --topic, transport and ROS "
                            "environment (ROS 2: ROS_DOMAIN_ID, ROS 1: ROS_MASTER_URI, ROS_IP)" +
                            std::string{options.transport == "shm" ? addresses : ""}}};
    }
    if (stop.wait_until(os::now() + 2ms)) {
      return false;
    }
  }
  return true;
}

}  // namespace takt::probe
