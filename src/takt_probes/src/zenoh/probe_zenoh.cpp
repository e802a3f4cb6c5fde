// SPDX-License-Identifier: Apache-2.0
//
// Zenoh, the other middleware of ROS 2, without ROS 2 above it: two peers, no router, no discovery.
// The active end listens at an address of its host, which the tool sets, as it does for the others.
#include <memory>

#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"
#include "zenoh_link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

constexpr const char* wire = "zenoh";
constexpr std::size_t largest_datagram = 60'000;  // with the heads of the message and of Zenoh

class Zenoh : public Stack {
 public:
  std::string_view name() const override { return "zenoh"; }

  std::vector<Capability> capabilities() const override {
    std::vector<Capability> all;
    for (const auto& [kind, roles] :
         {std::pair{Kind::pingpong, std::vector{Role::pong, Role::ping}},
          {Kind::pubsub, {Role::subscriber, Role::publisher}}}) {
      all.push_back({.kind = kind, .transport = "tcp", .roles = roles, .wire = wire});
      all.push_back({.kind = kind,
                     .transport = "udp",
                     .roles = roles,
                     .max_payload_bytes = largest_datagram,
                     .wire = wire});
    }
    return all;
  }

  void check(const Options& options) const override {
    if (options.reliability != Reliability::reliable) {
      throw UsageError{{.what = "--reliability best_effort",
                        .why = "its transport decides: tcp is reliable, udp may lose",
                        .fix = "leave it away"}};
    }
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    return std::make_unique<ZenohLink>(options, role, stop);
  }

  std::map<std::string, std::string> versions() const override {
    return {{"zenoh", TAKT_ZENOH_VERSION}};
  }
};

}  // namespace

int main(int argc, char** argv) {
  Zenoh zenoh;
  return run(argc, argv, zenoh);
}
