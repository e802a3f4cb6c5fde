// SPDX-License-Identifier: Apache-2.0
#include "rust_link.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "dds.hpp"
#include "meeting.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using Why = std::array<char, 500>;

constexpr const char* address_variable = "TAKT_RUSTDDS_ADDRESS";
constexpr const char* buffer_variable = "TAKT_RUSTDDS_BUFFER";
constexpr std::size_t most_buffer = 1'000'000'000;  // the kernel doubles it, in an int

Failure refused(const std::string& what, const Why& why) {
  return Failure{{.what = "RustDDS could not " + what,
                  .why = why.data(),
                  .fix = "check --topic, ROS_DOMAIN_ID and " + std::string{address_variable} +
                         " (of an interface of this host)"}};
}

/// In bytes, of each socket; 0 where nothing is asked for. Throws Failure.
std::size_t receive_buffer() {
  const char* const given = std::getenv(buffer_variable);
  if (given == nullptr) {
    return 0;
  }
  const std::string_view text{given};
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size() || bytes == 0 ||
      bytes > most_buffer) {
    throw Failure{{.what = "there is no receive buffer like this",
                   .why = std::string{buffer_variable} + " is '" + std::string{text} + "'",
                   .fix = "give a number of bytes from 1 to " + std::to_string(most_buffer)}};
  }
  return bytes;
}

}  // namespace

RustParticipant join_rustdds() {
  const char* const address = std::getenv(address_variable);
  Why why{};
  RustParticipant joined{takt_rustdds_join(static_cast<std::uint16_t>(dds_domain()),
                                           address == nullptr ? "127.0.0.1" : address,
                                           receive_buffer(), why.data(), why.size())};
  if (!joined) {
    throw refused("join its domain", why);
  }
  return joined;
}

RustLink::RustLink(takt_rustdds_participant* participant, const Options& options, Role role,
                   os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop}, inbox_{stop} {
  const std::string topic = dds_topic(is_active(role) ? topic_back(options) : topic_there(options));
  const takt_rustdds_settings settings{
      .topic = topic.c_str(),
      .reliable = options.reliability == Reliability::reliable,
      .transient_local = options.durability == Durability::transient_local,
      .depth = options.history == History::keep_all ? 0 : static_cast<std::uint32_t>(options.depth),
      .payload_bytes = options.payload_bytes,
      .announce = [](void* inbox) { static_cast<Inbox*>(inbox)->announce(1); },
      .context = &inbox_};
  Why why{};
  link_.reset(takt_rustdds_open(participant, &settings, why.data(), why.size()));
  if (!link_) {
    throw refused("open its ends of the topic", why);
  }
  if (is_active(role)) {
    open_writer(topic_there(options));
  }
}

void RustLink::open_writer(const std::string& topic) {
  Why why{};
  if (!takt_rustdds_open_writer(link_.get(), dds_topic(topic).c_str(), why.data(), why.size())) {
    throw refused("open its ends of the topic", why);
  }
}

bool RustLink::connect(os::TimePoint deadline) {
  const auto found = [this] { return peers(); };
  const auto heard = [this] { return takt_rustdds_readers(link_.get()); };
  if (is_active(role_)) {
    const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
    return wait_for_meeting(options_, stop_, deadline,
                            [&] { return found() >= wanted && heard() >= wanted; });
  }
  if (!wait_for_meeting(options_, stop_, deadline, [&] { return found() >= 1; })) {
    return false;
  }
  open_writer(topic_back(options_));
  return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
}

bool RustLink::send(const Message& message) noexcept {
  const takt_rustdds_head head{.sequence = message.sequence,
                               .intended_ns = message.intended.time_since_epoch().count(),
                               .sent_ns = message.sent.time_since_epoch().count(),
                               .last = message.last};
  return takt_rustdds_send(link_.get(), &head);
}

std::optional<Message> RustLink::receive(os::TimePoint deadline) noexcept {
  using std::chrono::nanoseconds;
  // One announcement may stand for several messages: what is there is taken first.
  do {
    takt_rustdds_head head{};
    const int taken = takt_rustdds_take(link_.get(), &head);
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

std::optional<os::Shortfall> RustLink::problem() const {
  Why why{};
  if (!takt_rustdds_problem(link_.get(), why.data(), why.size())) {
    return {};
  }
  return os::Shortfall{.what = "RustDDS could not send or take a message",
                       .why = why.data(),
                       .fix = "look at the other end, and at the payload"};
}

}  // namespace takt::probe
