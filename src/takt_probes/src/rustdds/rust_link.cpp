// SPDX-License-Identifier: Apache-2.0
#include "rust_link.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "crate_link.hpp"
#include "dds.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

constexpr const char* address_variable = "TAKT_RUSTDDS_ADDRESS";
constexpr const char* buffer_variable = "TAKT_RUSTDDS_BUFFER";
constexpr std::size_t most_buffer = 1'000'000'000;  // the kernel doubles it, in an int

Failure could_not(const std::string& what, const Why& why) {
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

class RustTopics : public Announced {
 public:
  static constexpr const char* name = "RustDDS";
  static constexpr const char* fix = "look at the other end, and at the payload";

  RustTopics(os::StopFlag& stop, takt_rustdds_participant* participant)
      : Announced{stop}, participant_{participant} {}

  static std::string named(const std::string& topic) { return dds_topic(topic); }

  OpenLink open(const Options& options, Role /*role*/, const std::string& topic) {
    const bool all = options.history == History::keep_all;
    const takt_rustdds_settings settings{
        .topic = topic.c_str(),
        .reliable = options.reliability == Reliability::reliable,
        .transient_local = options.durability == Durability::transient_local,
        .depth = all ? 0 : static_cast<std::uint32_t>(options.depth),
        .payload_bytes = options.payload_bytes,
        .announce = announce()};
    Why why{};
    OpenLink link{takt_rustdds_open(participant_, &settings, why.data(), why.size())};
    if (!link) {
      throw refused(topic, why);
    }
    return link;
  }

  static Failure refused(const std::string& /*topic*/, const Why& why) {
    return could_not("open its ends of the topic", why);
  }

 private:
  takt_rustdds_participant* participant_;
};

}  // namespace

RustParticipant join_rustdds() {
  const char* const address = std::getenv(address_variable);
  Why why{};
  RustParticipant joined{takt_rustdds_join(static_cast<std::uint16_t>(dds_domain()),
                                           address == nullptr ? "127.0.0.1" : address,
                                           receive_buffer(), why.data(), why.size())};
  if (!joined) {
    throw could_not("join its domain", why);
  }
  return joined;
}

std::unique_ptr<Link> open_rustdds(takt_rustdds_participant* participant, const Options& options,
                                   Role role, os::StopFlag& stop) {
  return std::make_unique<CrateLink<RustTopics>>(options, role, stop, participant);
}

}  // namespace takt::probe
