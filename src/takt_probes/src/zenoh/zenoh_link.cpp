// SPDX-License-Identifier: Apache-2.0
#include "zenoh_link.hpp"

#include <arpa/inet.h>
#include <takt_zenoh.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "crate_link.hpp"
#include "dds.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

constexpr const char* own_variable = "TAKT_ZENOH_OWN";    // where the active end listens
constexpr const char* peer_variable = "TAKT_ZENOH_PEER";  // where the others look for it
constexpr std::uint32_t first_port = 20000;               // below those that the kernel lends
constexpr std::uint32_t ports = 12000;

/// As an endpoint has it. Not a name: an end that looks for one would do so until its time is over.
std::string address_of(const char* variable) {
  const char* const given = std::getenv(variable);
  const std::string address = given == nullptr || *given == '\0' ? "127.0.0.1" : given;
  in6_addr parsed{};  // has room for either
  if (inet_pton(AF_INET, address.c_str(), &parsed) == 1) {
    return address;
  }
  if (inet_pton(AF_INET6, address.c_str(), &parsed) == 1) {
    return "[" + address + "]";
  }
  throw Failure{{.what = "there is no address to meet at",
                 .why = std::string{variable} + " is '" + address + "'",
                 .fix = "give an address in numbers, such as 127.0.0.1"}};
}

/// Both ends know the topic and the domain, and so the port (FNV-1a).
std::uint32_t port_of(const std::string& topic) {
  std::uint32_t hash = 2166136261U;
  for (const char letter : topic + "#" + std::to_string(dds_domain())) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  }
  return first_port + hash % ports;
}

class ZenohTopics : public Announced {
 public:
  static constexpr const char* name = "Zenoh";
  static constexpr const char* fix = "look at the other end, and at the payload";

  using Announced::Announced;

  static const std::string& named(const std::string& topic) { return topic; }

  OpenLink open(const Options& options, Role role, const std::string& topic) {
    const bool active = is_active(role);
    const std::string endpoint = options.transport + "/" +
                                 address_of(active ? own_variable : peer_variable) + ":" +
                                 std::to_string(port_of(options.topic));
    const takt_zenoh_settings settings{.topic = topic.c_str(),
                                       .endpoint = endpoint.c_str(),
                                       .listens = active,
                                       .depth = options.depth,
                                       .payload_bytes = options.payload_bytes,
                                       .announce = announce()};
    Why why{};
    OpenLink link{takt_zenoh_open(&settings, why.data(), why.size())};
    if (!link) {
      throw refused(endpoint, why);
    }
    return link;
  }

  static Failure refused(const std::string& place, const Why& why) {
    return Failure{{.what = "Zenoh could not open its ends of the topic at " + place,
                    .why = why.data(),
                    .fix = "look who has the port (ss --tcp --listening --processes); check "
                           "--topic, ROS_DOMAIN_ID, " +
                           std::string{own_variable} + " and " + peer_variable}};
  }
};

}  // namespace

std::unique_ptr<Link> open_zenoh(const Options& options, Role role, os::StopFlag& stop) {
  return std::make_unique<CrateLink<ZenohTopics>>(options, role, stop);
}

}  // namespace takt::probe
