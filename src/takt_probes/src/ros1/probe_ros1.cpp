// SPDX-License-Identifier: Apache-2.0
//
// ROS 1 through roscpp: its timers, and its topics over TCP and UDP.
#include <ros/common.h>
#include <ros/exception.h>

#include <memory>
#include <string>

#include "ros1_link.hpp"
#include "ros1_node.hpp"
#include "ros1_timer.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class Ros1 : public Stack {
 public:
  std::string_view name() const override { return "ros1"; }

  std::vector<Capability> capabilities() const override {
    std::vector<Capability> all;
    for (const Kind kind : {Kind::timer_oneshot, Kind::timer_cyclic}) {
      for (const char* timer : {"ros_timer", "wall_timer", "steady_timer"}) {
        all.push_back({.kind = kind,
                       .transport = timer,
                       .roles = {Role::both},
                       .max_payload_bytes = 0,
                       .waits = kind == Kind::timer_oneshot ? std::vector{Wait::idle, Wait::busy}
                                                            : std::vector{Wait::idle},
                       .reports = true});
      }
    }
    const auto without =
        without_qos("its transport decides: tcpros is reliable, udpros may lose messages",
                    "its queues keep the last messages; late joiners get none");
    for (const char* transport : {"tcpros", "tcpros_nodelay", "udpros"}) {
      all.push_back({.kind = Kind::pingpong,
                     .transport = transport,
                     .roles = {Role::pong, Role::ping},
                     .contents = all_contents,
                     .without = without});
      all.push_back({.kind = Kind::pubsub,
                     .transport = transport,
                     .roles = {Role::subscriber, Role::publisher},
                     .contents = all_contents,
                     .without = without});
    }
    return all;
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    return started<Link>(options, stop, [&]() -> std::unique_ptr<Link> {
      if (options.content == Content::string) {
        return std::make_unique<Ros1Link<Ros1Text>>(options, role, stop);
      }
      return std::make_unique<Ros1Link<Ros1Bytes>>(options, role, stop);
    });
  }

  std::unique_ptr<Timer> open_timer(const Options& options, os::StopFlag& stop) override {
    return started<Timer>(options, stop, [&]() -> std::unique_ptr<Timer> {
      if (options.transport == "steady_timer") {
        return std::make_unique<Ros1Timer<SteadyTimerMaker>>(options, stop);
      }
      if (options.transport == "wall_timer") {
        return std::make_unique<Ros1Timer<WallTimerMaker>>(options, stop);
      }
      return std::make_unique<Ros1Timer<RosTimerMaker>>(options, stop);
    });
  }

  void close() override { end_ros1(); }

  std::map<std::string, std::string> versions() const override {
    return {{"roscpp", std::to_string(ROS_VERSION_MAJOR) + "." + std::to_string(ROS_VERSION_MINOR) +
                           "." + std::to_string(ROS_VERSION_PATCH)}};
  }

 private:
  template <class Opened, class Open>
  static std::unique_ptr<Opened> started(const Options& options, const os::StopFlag& stop,
                                         const Open& open) {
    try {
      start_ros1(options, stop);
      return open();
    } catch (const ros::Exception& error) {
      throw Failure{{.what = "roscpp refused to open " + options.transport,
                     .why = error.what(),
                     .fix = "check --topic and the ROS environment (ROS_MASTER_URI, ROS_IP)"}};
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Ros1 ros1;
  return run(argc, argv, ros1);
}
