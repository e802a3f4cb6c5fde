// SPDX-License-Identifier: Apache-2.0
//
// The messages that the probe of Cyclone DDS sends: which type, how the head is written to one and
// read. Their memory is Cyclone's (dds_sample_free).
#pragma once

#include <dds/dds.h>
#include <sample.h>
#include <text.h>

#include <cstring>
#include <optional>

#include "takt/probe/link.hpp"
#include "takt/probe/text_head.hpp"

namespace takt::probe {

struct CycloneBytes {
  using Type = takt_interfaces_msg_dds__Sample_;

  static const dds_topic_descriptor_t* descriptor() {
    return &takt_interfaces_msg_dds__Sample__desc;
  }

  /// From the start, so that taking the first message allocates nothing.
  static void make_room(Type& sample, std::size_t bytes) {
    auto& payload = sample.payload_;
    payload._maximum = payload._length = static_cast<std::uint32_t>(bytes);
    payload._buffer = bytes > 0 ? static_cast<std::uint8_t*>(dds_alloc(bytes)) : nullptr;
    payload._release = true;
  }

  static void write(Type& sample, const Message& message) noexcept {
    sample.sequence_ = message.sequence;
    sample.intended_ns_ = message.intended.time_since_epoch().count();
    sample.sent_ns_ = message.sent.time_since_epoch().count();
    sample.last_ = message.last;
  }

  static std::optional<Message> read(const Type& sample) noexcept {
    using std::chrono::nanoseconds;
    return Message{.sequence = sample.sequence_,
                   .intended = os::TimePoint{nanoseconds{sample.intended_ns_}},
                   .sent = os::TimePoint{nanoseconds{sample.sent_ns_}},
                   .last = sample.last_};
  }
};

struct CycloneString {
  using Type = std_msgs_msg_dds__String_;

  static const dds_topic_descriptor_t* descriptor() { return &std_msgs_msg_dds__String__desc; }

  static void make_room(Type& text, std::size_t bytes) {
    const std::string made = text_of_length(bytes);
    text.data_ = dds_string_dup(made.c_str());
  }

  static void write(Type& text, const Message& message) noexcept {
    write_head(message, text.data_);
  }

  static std::optional<Message> read(const Type& text) noexcept {
    // Its length is not told; the head is all that is looked at.
    return read_head({text.data_, ::strnlen(text.data_, text_head_bytes)});
  }
};

}  // namespace takt::probe
