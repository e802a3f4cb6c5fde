// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of a job that waits where its description says: it computes, waits while others run,
/// computes again, and so on.
#pragma once

#include <chrono>
#include <string>

namespace takt::application {

/// A part of each job.
struct Segment {
  std::chrono::nanoseconds shortest{0};  ///< It takes at least this time.
  std::chrono::nanoseconds longest{0};   ///< And at most this one.
  /// The service that it calls: it waits for the response, however long that takes, and both times
  /// are 0. Empty: no call.
  std::string call = {};
  /// The device that it waits for, such as a GPU or a bus, and then occupies; requests are served
  /// one after the other, in their order. Empty: none.
  std::string device = {};
  /// It occupies the device for at least `shortest` and at most so long; `longest` contains the
  /// requests of others before it.
  std::chrono::nanoseconds occupies{0};
};

}  // namespace takt::application
