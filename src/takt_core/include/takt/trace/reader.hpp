// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads trace files (format: writer.hpp). The writer may be killed at any moment, so a file that
/// ends anywhere is read as far as it is complete. A trace of hours is larger than memory, so
/// events are read in blocks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/sched/error.hpp"
#include "takt/trace/event.hpp"
#include "takt/trace/writer.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

/// The file is not a trace, or is damaged; where() is its path.
class TAKT_CORE_PUBLIC TraceError : public Error {
 public:
  using Error::Error;
  TraceError(const TraceError&) = default;
  TraceError& operator=(const TraceError&) = default;
  TraceError(TraceError&&) = default;
  TraceError& operator=(TraceError&&) = default;
  ~TraceError() override;
};

/// Everything in a trace except its events.
struct TAKT_CORE_PUBLIC About {
  Source source = Source::executor;  ///< Who wrote it.
  bool closed_in_order = false;      ///< False: its writer was killed, or the file is cut off.
  std::uint64_t lost = 0;            ///< Events that the file lacks, as far as the writer knew.
  int write_error = 0;               ///< errno of the first write that failed; 0: none.
  std::chrono::nanoseconds realtime_offset{0};   ///< CLOCK_REALTIME - CLOCK_MONOTONIC at the start.
  std::map<std::uint16_t, std::string> tasks{};  ///< Names by Event::task.
  std::map<std::uint16_t, std::string> topics{};     ///< Names by Event::topic.
  std::map<std::uint16_t, std::string> scenarios{};  ///< Names by id.
  std::vector<std::string> attributes{};             ///< "key=value".
  std::uint64_t count = 0;                           ///< Number of events.
  std::uint64_t unknown = 0;  ///< Records of a type that this version does not know; skipped.

  /// The value of the first attribute with that key; empty if there is none.
  [[nodiscard]] std::string attribute(std::string_view key) const;
};

/// Reads the events of a file in the order of time, in bounded memory. Not thread-safe.
class TAKT_CORE_PUBLIC TraceFile {
 public:
  static constexpr std::size_t block_records = 1 << 16;  ///< Default size of a block.

  /// Reads names and counts.
  /// @param path the file.
  /// @param block how many records are read together.
  /// @throws std::system_error if the file cannot be read.
  /// @throws TraceError if it is not a trace.
  explicit TraceFile(const std::filesystem::path& path, std::size_t block = block_records);

  /// Everything except the events.
  [[nodiscard]] const About& about() const noexcept { return about_; }

  /// The next events by time, in the order of the file if times are equal; empty at the end.
  /// Threads write simultaneous events one after the other, and a release has its intended time: an
  /// event is held back until no later block has an earlier one.
  std::vector<Event> next();

  /// Lets next() start from the beginning.
  void rewind();

 private:
  bool read_block(std::vector<Event>& records);

  std::ifstream file_;
  std::uint64_t begin_ = 0;  // of the records in the file
  std::uint64_t records_ = 0;
  std::size_t block_;
  std::uint64_t read_ = 0;              // records so far in this pass
  std::size_t blocks_ = 0;              // so far in this pass
  std::vector<std::int64_t> earliest_;  // of all events from each block on
  std::vector<Event> waiting_;          // by time
  About about_;
};

/// A whole trace in memory.
struct Trace : About {
  std::vector<Event> events{};  ///< By time; of one thread and time in their order.
};

/// Reads a whole trace. Throws as the constructor of TraceFile.
TAKT_CORE_PUBLIC Trace read_trace(const std::filesystem::path& path);

}  // namespace takt::trace
