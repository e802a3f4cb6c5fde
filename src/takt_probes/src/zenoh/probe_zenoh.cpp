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

class Zenoh : public Stack {
 public:
  std::string_view name() const override { return "zenoh"; }

  std::vector<Capability> capabilities() const override {
    const auto without =
        without_qos("its transport decides, and tcp loses nothing",
                    "its subscribers keep the last messages; late joiners get none");
    return {{.kind = Kind::pingpong,
             .transport = "tcp",
             .roles = {Role::pong, Role::ping},
             .wire = wire,
             .without = without},
            {.kind = Kind::pubsub,
             .transport = "tcp",
             .roles = {Role::subscriber, Role::publisher},
             .wire = wire,
             .without = without}};
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    return open_zenoh(options, role, stop);
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
