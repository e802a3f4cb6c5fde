// SPDX-License-Identifier: Apache-2.0
//
// rclcpp: unmodified nodes on the executor that is asked for, one of rclcpp's own or Takt's. The
// transports shm and udp are chosen by the environment, as for the stack rcl.
#include <rclcpp/version.h>

#include <memory>
#include <optional>
#include <rclcpp/exceptions.hpp>
#include <rclcpp/utilities.hpp>
#include <string>
#include <takt/rclcpp/any_executor.hpp>
#include <tuple>

#include "rcl_versions.hpp"
#include "rclcpp_link.hpp"
#include "rclcpp_timer.hpp"
#include "shared_memory.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class Rclcpp : public Stack {
 public:
  std::string_view name() const override { return "rclcpp"; }

  std::vector<Capability> capabilities() const override {
    const bool dds = speaks_rtps();
    const std::string wire = dds ? rtps : "";
    const auto& executors = takt_rclcpp::executor_names();
    std::vector<Capability> all;
    for (const auto& [kind, passive, active] :
         {std::tuple{Kind::pingpong, Role::pong, Role::ping},
          std::tuple{Kind::pubsub, Role::subscriber, Role::publisher}}) {
      all.push_back({.kind = kind,
                     .transport = "shm",
                     .roles = {passive, active},
                     .executors = executors,
                     .dds = dds});
      all.push_back({.kind = kind,
                     .transport = "udp",
                     .roles = {passive, active},
                     .wire = wire,
                     .executors = executors,
                     .dds = dds});
      all.push_back({.kind = kind,
                     .transport = "process",
                     .roles = {Role::both},
                     .executors = executors,
                     .dds = dds});
    }
    for (Capability& one : all) {
      one.durabilities = all_durabilities;
      one.histories = all_histories;
      one.contents = all_contents;
    }
    // By pointer rclcpp has KEEP_LAST only.
    for (const char* pointer : pointers) {
      all.push_back({.kind = Kind::pubsub,
                     .transport = pointer,
                     .roles = {Role::both},
                     .executors = executors,
                     .contents = all_contents});
    }
    for (const Kind kind : {Kind::timer_oneshot, Kind::timer_cyclic}) {
      all.push_back({.kind = kind,
                     .transport = "rclcpp_timer",
                     .roles = {Role::both},
                     .max_payload_bytes = 0,
                     .reports = true,
                     .executors = executors});
    }
    for (Capability& one : all) {
      one.excluded = {
          {{{"executor", "takt"}, {"policy", "rr"}}, "the threads of Takt's executor run at fifo"}};
    }
    return all;
  }

  std::unique_ptr<Timer> open_timer(const Options& options, os::StopFlag& stop) override {
    return opened([&] { return std::make_unique<RclcppTimer>(options, stop); },
                  "check the ROS environment (RMW_IMPLEMENTATION, profiles)");
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    const auto made = [&]() -> std::unique_ptr<Link> {
      if (options.content == Content::string) {
        return std::make_unique<RclcppLink<StringBody>>(options, role, stop, addresses_);
      }
      return std::make_unique<RclcppLink<BytesBody>>(options, role, stop, addresses_);
    };
    return opened(made,
                  options.transport == "shm"
                      ? free_shared_memory
                      : "check --topic and the ROS environment (RMW_IMPLEMENTATION, profiles)");
  }

  void close() override {
    if (rclcpp::ok()) {
      rclcpp::shutdown();
    }
  }

  std::map<std::string, std::string> versions() const override {
    auto versions = rcl_versions();
    versions["rclcpp"] = RCLCPP_VERSION_STR;
    return versions;
  }

 private:
  SentAddresses addresses_;

  template <class Open>
  static auto opened(const Open& open, const char* fix) -> decltype(open()) {
    try {
      if (!rclcpp::ok()) {
        rclcpp::init(0, nullptr, rclcpp::InitOptions{}, rclcpp::SignalHandlerOptions::None);
      }
      return open();
    } catch (const Failure&) {
      throw;
    } catch (const std::exception& error) {
      throw Failure{{.what = "rclcpp could not set up its node", .why = error.what(), .fix = fix}};
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Rclcpp rclcpp;
  return run(argc, argv, rclcpp);
}
