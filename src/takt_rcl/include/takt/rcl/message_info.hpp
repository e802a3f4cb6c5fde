// SPDX-License-Identifier: Apache-2.0
//
// MessageInfo: what the middleware tells about a message that was taken.
#pragma once

#include <rmw/types.h>

#include <chrono>
#include <cstdint>

namespace takt {

// The stamps are readings of CLOCK_REALTIME on the host that made them: source and received may be
// subtracted when both ends run on one host, and are disturbed by steps of that clock. Latencies
// are measured with CLOCK_MONOTONIC inside the message instead (takt_interfaces/Sample).
struct MessageInfo {
  using Stamp = std::chrono::sys_time<std::chrono::nanoseconds>;

  // publication_sequence_number of a middleware that does not count.
  static constexpr std::uint64_t sequence_unsupported =
      RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED;

  Stamp source_timestamp{};    // when the publisher handed it to its middleware
  Stamp received_timestamp{};  // when the subscriber's middleware got it; 0 where unsupported
  // Counts the messages of one publisher without gaps: a gap is a loss. Where it starts is up to
  // the middleware.
  std::uint64_t publication_sequence_number{sequence_unsupported};
  // Moved inside the process without the middleware. Messages that the middleware delivers within
  // one process do not count (rmw_fastrtps reports false for them).
  bool from_intra_process{false};
};

}  // namespace takt
