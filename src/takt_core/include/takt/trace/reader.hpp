// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace file into memory (format: writer.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "takt/trace/event.hpp"
#include "takt/trace/writer.hpp"

namespace takt::trace {

struct Trace {
  Source source = Source::executor;
  bool closed_in_order = false;
  std::uint64_t lost = 0;
  int write_error = 0;  // errno of the first write that failed
  std::chrono::nanoseconds realtime_offset{0};
  std::map<std::uint16_t, std::string> tasks{};
  std::map<std::uint16_t, std::string> topics{};
  std::map<std::uint16_t, std::string> scenarios{};
  std::vector<std::string> attributes{};  // "key=value"
  std::vector<Event> events{};            // by time; of one thread and time in their order
};

// Throws std::system_error when the file cannot be read, std::runtime_error with the path when it
// is not a trace. A file whose writer was killed is a trace.
Trace read_trace(const std::filesystem::path& path);

}  // namespace takt::trace
