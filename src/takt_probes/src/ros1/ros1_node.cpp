// SPDX-License-Identifier: Apache-2.0
#include "ros1_node.hpp"

#include <ros/init.h>
#include <ros/master.h>

#include <algorithm>
#include <cstdlib>

#include "node_name.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds master_patience{5};

}  // namespace

void start_ros1(const Options& options, const os::StopFlag& stop) {
  if (ros::isInitialized()) {
    return;
  }
  if (std::getenv("ROS_MASTER_URI") == nullptr) {
    throw Failure{{.what = "there is no ROS 1 master to register with",
                   .why = "ROS_MASTER_URI is not set",
                   .fix = "set it, for example to http://127.0.0.1:11311, with ROS_IP=127.0.0.1 "
                          "and 'rosmaster --core -p 11311' running"}};
  }
  // In the root namespace, whatever ROS_NAMESPACE says: node_name() counts on it.
  ros::init(ros::M_string{{"__ns", "/"}}, node_name(options), ros::init_options::NoSigintHandler);
  ros::master::setRetryTimeout(ros::WallDuration{5.0});
  const auto deadline = os::now() + master_patience;
  while (!ros::master::check()) {
    if (os::now() >= deadline || stop.wait_until(os::now() + 50ms)) {
      throw Failure{{.what = "no ROS 1 master answered at " + ros::master::getURI(),
                     .why = "nothing listens there, or it gets no CPU time",
                     .fix = "start it ('rosmaster --core -p PORT'), or correct ROS_MASTER_URI"}};
    }
  }
  ros::start();
}

void end_ros1() {
  if (ros::isStarted()) {
    ros::shutdown();
  }
}

void CallbackLane::call_one(os::TimePoint deadline, const Options& options) {
  if (options.wait == Wait::busy) {
    if (queue_.callOne() == ros::CallbackQueue::Empty) {
      give_way(options);
    }
    return;
  }
  const auto slice = std::clamp<std::chrono::nanoseconds>(deadline - os::now(), 0ns, longest_wait);
  queue_.callOne(ros::WallDuration{}.fromNSec(slice.count()));
}

}  // namespace takt::probe
