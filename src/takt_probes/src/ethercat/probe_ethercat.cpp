// SPDX-License-Identifier: Apache-2.0
//
// The cycle of an EtherCAT master. For the probe both transports are an interface; who makes a
// simulated segment behind it is the tool.
#include <memory>

#include "ethercat_bus.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class Ethercat : public Stack {
 public:
  std::string_view name() const override { return "ethercat"; }

  std::vector<Capability> capabilities() const override {
    return {{.kind = Kind::ethercat,
             .transport = "simulated",
             .roles = {Role::both},
             .fixed_payload_bytes = {0}},
            {.kind = Kind::ethercat,
             .transport = "interface",
             .roles = {Role::both},
             .fixed_payload_bytes = {0}}};
  }

  std::unique_ptr<Link> open(const Options& /*options*/, Role /*role*/,
                             os::StopFlag& /*stop*/) override {
    return nullptr;  // it has no kind that sends messages
  }

  std::unique_ptr<Bus> open_bus(const Options& options, os::StopFlag& stop) override {
    return EthercatBus::open(options, stop);
  }

  std::map<std::string, std::string> versions() const override {
    return {{"ethercrab", TAKT_ETHERCAT_VERSION}};
  }
};

}  // namespace

int main(int argc, char** argv) {
  Ethercat ethercat;
  return run(argc, argv, ethercat);
}
