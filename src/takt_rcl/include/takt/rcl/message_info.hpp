// SPDX-License-Identifier: Apache-2.0
/// @file
/// MessageInfo: what the middleware knows about a received message.
#pragma once

#include <rmw/types.h>

#include <chrono>
#include <cstdint>

namespace takt {

/// The origin of a message.
///
/// The stamps are readings of CLOCK_REALTIME on the host that made them: the difference of source
/// and received is meaningful if both ends run on one host, apart from steps of that clock. To
/// measure latencies use CLOCK_MONOTONIC inside of the message instead (takt_interfaces/Sample).
struct MessageInfo {
  /// CLOCK_REALTIME in nanoseconds.
  using Stamp = std::chrono::sys_time<std::chrono::nanoseconds>;

  /// The publication_sequence_number of a middleware that does not count.
  static constexpr std::uint64_t sequence_unsupported =
      RMW_MESSAGE_INFO_SEQUENCE_NUMBER_UNSUPPORTED;

  Stamp source_timestamp{};    ///< When the publisher passed it to its middleware.
  Stamp received_timestamp{};  ///< When the subscriber's middleware received it; 0: unsupported.
  /// Counts the messages of one publisher without gaps: a gap is a loss. The first number depends
  /// on the middleware.
  std::uint64_t publication_sequence_number{sequence_unsupported};
  /// Passed inside of the process without the middleware. False for messages that the middleware
  /// delivers within a process (rmw_fastrtps).
  bool from_intra_process{false};
};

}  // namespace takt
