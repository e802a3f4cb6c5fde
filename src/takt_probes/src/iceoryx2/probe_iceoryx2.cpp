// SPDX-License-Identifier: Apache-2.0
//
// iceoryx2: shared memory with nothing above it, the reference of what a middleware could reach on
// one host.
#include <memory>

#include "iceoryx_link.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class Iceoryx : public Stack {
 public:
  std::string_view name() const override { return "iceoryx2"; }

  std::vector<Capability> capabilities() const override {
    return {
        {.kind = Kind::pingpong, .transport = "shm", .roles = {Role::pong, Role::ping}},
        {.kind = Kind::pubsub, .transport = "shm", .roles = {Role::subscriber, Role::publisher}}};
  }

  void check(const Options& options) const override {
    if (options.reliability != Reliability::reliable) {
      throw UsageError{{.what = "--reliability best_effort",
                        .why = "shared memory loses nothing but what the history has no room for",
                        .fix = "leave it away; --depth is the history"}};
    }
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    return open_iceoryx2(options, role, stop);
  }

  std::map<std::string, std::string> versions() const override {
    return {{"iceoryx2", TAKT_ICEORYX2_VERSION}};
  }
};

}  // namespace

int main(int argc, char** argv) {
  Iceoryx iceoryx;
  return run(argc, argv, iceoryx);
}
