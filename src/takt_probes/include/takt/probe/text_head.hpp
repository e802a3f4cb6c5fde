// SPDX-License-Identifier: Apache-2.0
//
// The head of a message as the begin of a text, for message types that are nothing but a string
// (std_msgs/String): sequence, intended and sent as sixteen hexadecimal digits each, then whether
// it is the last one. Of one length, so that it is written in place, without an allocation.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "takt/probe/link.hpp"

namespace takt::probe {

inline constexpr std::size_t digits_of_a_number = 16;
inline constexpr std::size_t text_head_bytes = 3 * digits_of_a_number + 1;

/// A text of so many bytes, at least text_head_bytes, for write_head().
inline std::string text_of_length(std::size_t bytes) {
  return std::string(bytes, '.');
}

/// `text` has room for the head.
inline void write_head(const Message& message, char* text) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::array<std::uint64_t, 3> numbers{
      message.sequence, static_cast<std::uint64_t>(message.intended.time_since_epoch().count()),
      static_cast<std::uint64_t>(message.sent.time_since_epoch().count())};
  for (std::uint64_t number : numbers) {
    for (std::size_t place = digits_of_a_number; place-- > 0; number >>= 4U) {
      text[place] = digits[number & 15U];
    }
    text += digits_of_a_number;
  }
  *text = message.last ? 'L' : '-';
}

/// Nothing where the text has no such head.
inline std::optional<Message> read_head(std::string_view text) noexcept {
  if (text.size() < text_head_bytes) {
    return {};
  }
  std::array<std::uint64_t, 3> numbers{};
  const char* at = text.data();
  for (std::uint64_t& number : numbers) {
    const char* const end = at + digits_of_a_number;
    if (std::from_chars(at, end, number, 16).ptr != end) {
      return {};
    }
    at = end;
  }
  if (*at != 'L' && *at != '-') {
    return {};
  }
  using std::chrono::nanoseconds;
  return Message{.sequence = numbers[0],
                 .intended = os::TimePoint{nanoseconds{static_cast<std::int64_t>(numbers[1])}},
                 .sent = os::TimePoint{nanoseconds{static_cast<std::int64_t>(numbers[2])}},
                 .last = *at == 'L'};
}

}  // namespace takt::probe
