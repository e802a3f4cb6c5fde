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
    const auto without =
        without_qos("shared memory loses only what the buffer, --depth, has no room for",
                    "its buffers keep the last messages; late joiners get none");
    return {{.kind = Kind::pingpong,
             .transport = "shm",
             .roles = {Role::pong, Role::ping},
             .without = without},
            {.kind = Kind::pubsub,
             .transport = "shm",
             .roles = {Role::subscriber, Role::publisher},
             .without = without}};
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
