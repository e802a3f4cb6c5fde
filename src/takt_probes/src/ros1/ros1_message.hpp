// SPDX-License-Identifier: Apache-2.0
//
// The message types as this program uses them. roscpp's serializer asks allocators for a member
// that C++20 took from std::allocator; an allocator that still has it is all that is needed.
#pragma once

#include <std_msgs/String.h>
#include <takt_ros1/Sample.h>

#include <memory>
#include <optional>

#include "takt/probe/link.hpp"
#include "takt/probe/text_head.hpp"

namespace takt::probe {

template <class T>
struct RosAllocator : std::allocator<T> {
  using std::allocator<T>::allocator;
  template <class U>
  struct rebind {
    using other = RosAllocator<U>;
  };
};

using Ros1Sample = takt_ros1::Sample_<RosAllocator<void>>;
using Ros1String = std_msgs::String_<RosAllocator<void>>;

struct Ros1Bytes {
  using Type = Ros1Sample;

  static void make_room(Type& sample, std::size_t bytes) { sample.payload.resize(bytes); }

  static void write(Type& sample, const Message& message) noexcept {
    sample.sequence = message.sequence;
    sample.intended_ns = message.intended.time_since_epoch().count();
    sample.sent_ns = message.sent.time_since_epoch().count();
    sample.last = static_cast<std::uint8_t>(message.last);
  }

  static std::optional<Message> read(const Type& sample) noexcept {
    using std::chrono::nanoseconds;
    return Message{.sequence = sample.sequence,
                   .intended = os::TimePoint{nanoseconds{sample.intended_ns}},
                   .sent = os::TimePoint{nanoseconds{sample.sent_ns}},
                   .last = sample.last != 0};
  }
};

struct Ros1Text {
  using Type = Ros1String;

  static void make_room(Type& text, std::size_t bytes) { text.data.assign(bytes, '.'); }
  static void write(Type& text, const Message& message) noexcept {
    write_head(message, text.data.data());
  }
  static std::optional<Message> read(const Type& text) noexcept {
    return read_head({text.data.data(), text.data.size()});
  }
};

}  // namespace takt::probe
