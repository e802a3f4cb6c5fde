// SPDX-License-Identifier: Apache-2.0
//
// Reads trace files (format: writer.hpp). The writer may have been killed at any moment, so a file
// that ends anywhere is read as far as it is whole. A trace of hours is larger than memory: events
// come in blocks.
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

// The file is no trace, or damaged; where() is its path.
class TAKT_CORE_PUBLIC TraceError : public Error {
 public:
  using Error::Error;
};

// All of a trace but its events.
struct TAKT_CORE_PUBLIC About {
  Source source = Source::executor;
  bool closed_in_order = false;
  std::uint64_t lost = 0;  // events that the file lacks, as far as the writer could tell
  int write_error = 0;     // errno of the first write that failed
  std::chrono::nanoseconds realtime_offset{0};
  std::map<std::uint16_t, std::string> tasks{};
  std::map<std::uint16_t, std::string> topics{};
  std::map<std::uint16_t, std::string> scenarios{};
  std::vector<std::string> attributes{};  // "key=value"
  std::uint64_t count = 0;                // of events
  std::uint64_t unknown = 0;  // records of a type that this version does not know: left out

  // The first attribute of that key; empty: there is none.
  [[nodiscard]] std::string attribute(std::string_view key) const;
};

class TAKT_CORE_PUBLIC TraceFile {
 public:
  static constexpr std::size_t block_records = 1 << 16;

  // Reads names and counts; `block` records are looked at together. Throws std::system_error when
  // the file cannot be read, TraceError when it is not a trace.
  explicit TraceFile(const std::filesystem::path& path, std::size_t block = block_records);

  [[nodiscard]] const About& about() const noexcept { return about_; }

  // The next events by time, those of one time in the order of the file; none: that was all.
  // Threads write one after the other what happened at the same time, and a release stands with its
  // intended time: an event waits here until no later block has an earlier one.
  std::vector<Event> next();
  void rewind();  // next() begins again

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

struct Trace : About {
  std::vector<Event> events{};  // by time; of one thread and time in their order
};

// All of it at once. Throws as TraceFile.
TAKT_CORE_PUBLIC Trace read_trace(const std::filesystem::path& path);

}  // namespace takt::trace
