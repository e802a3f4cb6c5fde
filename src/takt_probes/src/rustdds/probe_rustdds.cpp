// SPDX-License-Identifier: Apache-2.0
//
// RustDDS, without ROS 2 above it. It has no configuration of its own: the interface and the
// receive buffer come from TAKT_RUSTDDS_ADDRESS and TAKT_RUSTDDS_BUFFER, which the tool sets.
#include <memory>

#include "rust_link.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class RustDds : public Stack {
 public:
  std::string_view name() const override { return "rustdds"; }

  std::vector<Capability> capabilities() const override {
    return {{.kind = Kind::pingpong,
             .transport = "udp",
             .roles = {Role::pong, Role::ping},
             .wire = rtps,
             .durabilities = all_durabilities,
             .histories = all_histories,
             .dds = true},
            {.kind = Kind::pubsub,
             .transport = "udp",
             .roles = {Role::subscriber, Role::publisher},
             .wire = rtps,
             .durabilities = all_durabilities,
             .histories = all_histories,
             .dds = true}};
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    participant_ = join_rustdds();
    return open_rustdds(participant_.get(), options, role, stop);
  }

  void close() override { participant_.reset(); }

  std::map<std::string, std::string> versions() const override {
    return {{"rustdds", TAKT_RUSTDDS_VERSION}};
  }

 private:
  RustParticipant participant_;
};

}  // namespace

int main(int argc, char** argv) {
  RustDds rustdds;
  return run(argc, argv, rustdds);
}
