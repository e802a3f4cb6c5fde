// SPDX-License-Identifier: Apache-2.0
#include "zenoh_link.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "dds.hpp"
#include "meeting.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using Why = std::array<char, 500>;

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

Failure refused(const std::string& endpoint, const Why& why) {
  return Failure{{.what = "Zenoh could not open its ends of the topic at " + endpoint,
                  .why = why.data(),
                  .fix = "look who has the port (ss --tcp --listening --processes); check "
                         "--topic, ROS_DOMAIN_ID, " +
                         std::string{own_variable} + " and " + peer_variable}};
}

}  // namespace

ZenohLink::ZenohLink(const Options& options, Role role, os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop}, inbox_{stop} {
  const bool active = is_active(role);
  const std::string topic = active ? topic_back(options) : topic_there(options);
  const std::string endpoint = options.transport + "/" +
                               address_of(active ? own_variable : peer_variable) + ":" +
                               std::to_string(port_of(options.topic));
  const takt_zenoh_settings settings{
      .topic = topic.c_str(),
      .endpoint = endpoint.c_str(),
      .listens = active,
      .depth = options.depth,
      .payload_bytes = options.payload_bytes,
      .announce = [](void* inbox) { static_cast<Inbox*>(inbox)->announce(1); },
      .context = &inbox_};
  Why why{};
  link_.reset(takt_zenoh_open(&settings, why.data(), why.size()));
  if (!link_) {
    throw refused(endpoint, why);
  }
  if (active) {
    open_writer(topic_there(options));
  }
}

void ZenohLink::open_writer(const std::string& topic) {
  Why why{};
  if (!takt_zenoh_open_writer(link_.get(), topic.c_str(), why.data(), why.size())) {
    throw refused(topic, why);
  }
}

bool ZenohLink::connect(os::TimePoint deadline) {
  const auto heard = [this] { return takt_zenoh_readers(link_.get()); };
  if (is_active(role_)) {
    const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
    return wait_for_meeting(options_, stop_, deadline,
                            [&] { return peers() >= wanted && heard() >= wanted; });
  }
  if (!wait_for_meeting(options_, stop_, deadline, [&] { return peers() >= 1; })) {
    return false;
  }
  open_writer(topic_back(options_));
  return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
}

bool ZenohLink::send(const Message& message) noexcept {
  const takt_zenoh_head head{.sequence = message.sequence,
                             .intended_ns = message.intended.time_since_epoch().count(),
                             .sent_ns = message.sent.time_since_epoch().count(),
                             .last = message.last};
  return takt_zenoh_send(link_.get(), &head);
}

std::optional<Message> ZenohLink::receive(os::TimePoint deadline) noexcept {
  using std::chrono::nanoseconds;
  // A message that gave way to a newer one was announced, too: what is there is taken first.
  do {
    takt_zenoh_head head{};
    const int taken = takt_zenoh_take(link_.get(), &head);
    if (taken < 0) {
      return {};
    }
    if (taken > 0) {
      return Message{.sequence = head.sequence,
                     .intended = os::TimePoint{nanoseconds{head.intended_ns}},
                     .sent = os::TimePoint{nanoseconds{head.sent_ns}},
                     .last = head.last};
    }
  } while (inbox_.await(deadline));
  return {};
}

std::optional<os::Shortfall> ZenohLink::problem() const {
  Why why{};
  if (!takt_zenoh_problem(link_.get(), why.data(), why.size())) {
    return {};
  }
  return os::Shortfall{.what = "Zenoh could not send or take a message",
                       .why = why.data(),
                       .fix = "look at the other end, and at the payload"};
}

}  // namespace takt::probe
