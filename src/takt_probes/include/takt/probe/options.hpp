// SPDX-License-Identifier: Apache-2.0
//
// The command line of every probe, and what a stack can do of it (docs/reference/probes.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/os/thread.hpp"

namespace takt::probe {

enum class Kind { wakeup, timer_oneshot, timer_cyclic, pingpong, pubsub, ethercat, supply };
enum class Role { both, ping, pong, publisher, subscriber };
enum class Wait { idle, busy };
enum class Allocator { heap, tlsf };
/// When the next ping goes where a reply came after its start time.
enum class Late { at_once, next_cycle };
/// What a message is: a head and bytes, or one text that holds both (text_head.hpp).
enum class Content { bytes, string };
enum class Reliability { reliable, best_effort };
/// What a topic has for who comes late: nothing, or what its writer still keeps.
enum class Durability { volatile_, transient_local };
/// What an end keeps that is under way: the last `depth` messages, or every one.
enum class History { keep_last, keep_all };

std::string_view name_of(Kind kind);
std::string_view name_of(Role role);
std::string_view name_of(Content content);
std::string_view name_of(Reliability reliability);
std::string_view name_of(Durability durability);
std::string_view name_of(History history);
std::string_view name_of(Wait wait);
std::string_view name_of(Late late);
std::string_view name_of(Allocator allocator);

constexpr bool is_timer(Kind kind) {
  return kind == Kind::timer_oneshot || kind == Kind::timer_cyclic;
}

/// Whether this role writes a sample file.
constexpr bool records(Role role) {
  return role != Role::pong && role != Role::publisher;
}

/// The wire of DDS: messages of takt_interfaces/msg/Sample over RTPS, named as ROS 2 names them.
inline constexpr const char* rtps = "rtps";

/// Of every stack of DDS.
inline const std::vector<Durability> all_durabilities{Durability::volatile_,
                                                      Durability::transient_local};
inline const std::vector<Content> all_contents{Content::bytes, Content::string};
inline const std::vector<History> all_histories{History::keep_last, History::keep_all};

/// Values that do not go together in one capability, by option without its dashes.
struct Exclusion {
  std::map<std::string, std::string> values;
  std::string why;
};

/// One kind over one transport, as `--capabilities` prints it.
struct Capability {
  Kind kind;
  std::string transport;
  std::vector<Role> roles;  ///< how it is started: one process per entry, in this order
  std::vector<std::size_t> fixed_payload_bytes{};  ///< the only payloads; empty: any
  std::optional<std::size_t> max_payload_bytes{};
  std::vector<Wait> waits = {Wait::idle};
  bool reports = false;  ///< the timer itself says how late it was
  /// What goes from host to host: probes of the same wire understand each other. Empty: nothing.
  std::string wire{};
  bool apart = false;                    ///< it needs two hosts
  std::vector<std::string> executors{};  ///< what may run the callbacks, the default first
  bool both_too = false;  ///< `--role both` is allowed although `roles` has one process per role
  std::vector<Durability> durabilities{};  ///< to choose from; empty: nothing to choose
  std::vector<History> histories{};        ///< likewise
  std::vector<Content> contents = {Content::bytes};
  std::vector<Allocator> allocators = {Allocator::heap};  ///< of client library and messages
  bool dds = false;  ///< its middleware is a DDS, which starts threads of its own
  std::map<std::string, std::string> without{};  ///< options without a choice, each with the reason
  std::vector<Exclusion> excluded{};
};

/// The options of a stack without QoS: why none of it can be chosen.
inline std::map<std::string, std::string> without_qos(const std::string& reliability,
                                                      const std::string& kept) {
  return {{"reliability", reliability}, {"durability", kept}, {"history", kept}};
}

/// Of the threads of a DDS: those that keep house at `least`, those that carry messages at `most`.
struct DdsPriority {
  int least = 0;
  int most = 0;
};
std::string to_text(const DdsPriority& priority);

/// What is asked of one probe process; defaults as in the contract.
struct Options {
  Kind kind = Kind::wakeup;
  Role role = Role::both;
  std::string transport;
  std::string executor;  ///< of stacks that have several; empty: of those that have none
  std::size_t payload_bytes = 0;
  Content content = Content::bytes;
  std::chrono::nanoseconds period{std::chrono::milliseconds{1}};
  std::uint64_t count = 1000;
  std::chrono::nanoseconds timeout{std::chrono::milliseconds{1}};
  Wait wait = Wait::idle;
  Late late = Late::at_once;
  Allocator allocator = Allocator::heap;
  std::chrono::nanoseconds start_delay{0};
  os::SchedulingPolicy policy = os::SchedulingPolicy::other;
  int priority = 0;
  std::optional<DdsPriority> dds_priority{};  ///< none: its threads inherit that of the loop
  std::optional<int> dscp{};                  ///< of the packets; none: as the middleware has it
  std::vector<int> cpus;  ///< none: not pinned; one: all roles; two: one per role
  std::chrono::nanoseconds lost_after{std::chrono::milliseconds{500}};
  std::chrono::nanoseconds time_limit{std::chrono::seconds{60}};
  unsigned subscribers = 1;
  std::string topic = "takt/probe";
  Reliability reliability = Reliability::reliable;
  Durability durability = Durability::volatile_;
  History history = History::keep_last;
  std::size_t depth = 10;         ///< of keep_last
  std::string interface{};        ///< of the network, to the slaves of a fieldbus
  unsigned slaves = 0;            ///< how many there have to be; 0: any number
  std::filesystem::path samples;  ///< empty: nothing is recorded
  std::filesystem::path gaps;     ///< of supply; empty: not recorded
  std::filesystem::path result;   ///< empty: standard output

  bool real_time() const { return policy != os::SchedulingPolicy::other; }
};

/// Reads the command line. Returns nothing when it was answered (`--help`, `--capabilities`);
/// throws UsageError when it makes no sense.
std::optional<Options> parse(int argc, const char* const* argv, std::string_view stack,
                             const std::vector<Capability>& capabilities);

/// The JSON document of `--capabilities`.
std::string describe(std::string_view stack, const std::vector<Capability>& capabilities);

}  // namespace takt::probe
