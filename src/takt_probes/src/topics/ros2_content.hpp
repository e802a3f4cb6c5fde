// SPDX-License-Identifier: Apache-2.0
//
// The messages of ROS 2 that a probe sends: which type, how the head is written to one and read.
#pragma once

#include <cstddef>
#include <optional>
#include <std_msgs/msg/string.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "takt/probe/link.hpp"
#include "takt/probe/text_head.hpp"

namespace takt::probe {

/// Of takt_interfaces/msg/Sample and its relatives of fixed size.
template <class Sample>
void write_to(Sample& sample, const Message& message) noexcept {
  sample.sequence = message.sequence;
  sample.intended_ns = message.intended.time_since_epoch().count();
  sample.sent_ns = message.sent.time_since_epoch().count();
  sample.last = message.last;
}

template <class Sample>
Message read_from(const Sample& sample) noexcept {
  using std::chrono::nanoseconds;
  return {.sequence = sample.sequence,
          .intended = os::TimePoint{nanoseconds{sample.intended_ns}},
          .sent = os::TimePoint{nanoseconds{sample.sent_ns}},
          .last = sample.last};
}

struct BytesBody {
  using Type = takt_interfaces::msg::Sample;

  static void make_room(Type& sample, std::size_t bytes) { sample.payload.resize(bytes); }
  static void write(Type& sample, const Message& message) noexcept { write_to(sample, message); }
  static std::optional<Message> read(const Type& sample) noexcept { return read_from(sample); }
};

/// Of fixed size, as a middleware lends memory for it.
template <class Sample>
struct FixedBody {
  using Type = Sample;

  static void make_room(Type& /*sample*/, std::size_t /*bytes*/) {}
  static void write(Type& sample, const Message& message) noexcept { write_to(sample, message); }
  static std::optional<Message> read(const Type& sample) noexcept { return read_from(sample); }
};

struct StringBody {
  using Type = std_msgs::msg::String;

  static void make_room(Type& text, std::size_t bytes) { text.data = text_of_length(bytes); }
  static void write(Type& text, const Message& message) noexcept {
    write_head(message, text.data.data());
  }
  static std::optional<Message> read(const Type& text) noexcept { return read_head(text.data); }
};

}  // namespace takt::probe
