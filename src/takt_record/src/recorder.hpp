// SPDX-License-Identifier: Apache-2.0
//
// The recorder of this process: opens its recording at the first event, and again in the child of a
// fork, so that a program without ROS 2 leaves no file.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "recording.hpp"

namespace takt_record {

/// Where recordings go; without it nothing is recorded.
inline constexpr const char* folder_variable = "TAKT_RECORD_FOLDER";
/// Bytes of each recording.
inline constexpr const char* size_variable = "TAKT_RECORD_BYTES";
/// "ring": recordings keep the newest events; otherwise they stop when they are full.
inline constexpr const char* full_variable = "TAKT_RECORD_FULL";
/// In that folder: pauses and resumes the recordings.
inline constexpr const char* control_file = "control";
inline constexpr std::uint64_t usual_bytes = std::uint64_t{64} << 20;

/// Where the next library in the program has the same function; null where none has it.
class Next {
 public:
  explicit constexpr Next(const char* name) noexcept : name_(name) {}

  /// Looks for it at the first call.
  void* find() noexcept;

 private:
  const char* name_;
  std::atomic<void*> found_{nullptr};
  std::atomic<bool> asked_{false};
};

/// Appends to the recording of this process.
void record(std::uint16_t event, const Arguments& arguments, Kind kind) noexcept;

/// Names and parameters of all events, a line each.
std::string_view event_names();

}  // namespace takt_record
