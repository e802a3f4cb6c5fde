// SPDX-License-Identifier: Apache-2.0
//
// Cyclone DDS itself, without ROS 2 above it. Interface and peers come from the environment
// (CYCLONEDDS_URI), which the tool sets.
#include <dds/version.h>

#include <memory>
#include <optional>
#include <tuple>

#include "cyclone_link.hpp"
#include "dds.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class Cyclone : public Stack {
 public:
  std::string_view name() const override { return "cyclonedds"; }

  std::vector<Capability> capabilities() const override {
    std::vector<Capability> all;
    for (const auto& [kind, passive, active] :
         {std::tuple{Kind::pingpong, Role::pong, Role::ping},
          std::tuple{Kind::pubsub, Role::subscriber, Role::publisher}}) {
      all.push_back({.kind = kind,
                     .transport = "udp",
                     .roles = {passive, active},
                     .wire = rtps,
                     .durabilities = all_durabilities,
                     .histories = all_histories,
                     .contents = all_contents,
                     .dds = true});
      all.push_back({.kind = kind,
                     .transport = "process",
                     .roles = {Role::both},
                     .durabilities = all_durabilities,
                     .histories = all_histories,
                     .contents = all_contents,
                     .dds = true});
    }
    return all;
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    if (!participant_) {
      participant_.emplace(dds_create_participant(dds_domain(), nullptr, nullptr), "a participant");
    }
    if (options.content == Content::string) {
      return std::make_unique<CycloneLink<CycloneString>>(**participant_, options, role, stop);
    }
    return std::make_unique<CycloneLink<CycloneBytes>>(**participant_, options, role, stop);
  }

  void close() override { participant_.reset(); }

  std::map<std::string, std::string> versions() const override {
    return {{"cyclonedds", DDS_VERSION}};
  }

 private:
  std::optional<Entity> participant_;
};

}  // namespace

int main(int argc, char** argv) {
  Cyclone cyclone;
  return run(argc, argv, cyclone);
}
