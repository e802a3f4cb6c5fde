// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace file. The simulator feeds it directly; the Tracer feeds it from the rings of
// real-time threads. Not for a real-time thread itself, because it writes to a file.
//
// The file, little endian: a header of 64 bytes, then records of 32 bytes to its end.
//
//   0  8 bytes  "TAKTTRC1"
//   8  u32      size of the header, 64
//  12  u32      size of a record, 32
//  16  u64      events lost so far (rings that were full, writes that failed)
//  24  i64      CLOCK_REALTIME - CLOCK_MONOTONIC at the start, ns; 0 for virtual time
//  32  u32      source: 1 executor, 2 simulator
//  36  u32      flags: bit 0: closed in order (a killed process leaves it 0)
//  40  i32      errno of the first write that failed, 0: none did
//  44  zeros
//
// A record is an Event or a NameRecord (event.hpp). Records are appended, never changed: a trace
// whose process was killed is valid up to the last flush; a part of a record at its end is ignored.
// Events of one thread stand in their order; sort by time to merge the threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "takt/trace/event.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

// NOLINTNEXTLINE(performance-enum-size): as wide as in the file
enum class Source : std::uint32_t { executor = 1, simulator = 2 };

struct FileHeader {
  std::array<char, 8> magic = {'T', 'A', 'K', 'T', 'T', 'R', 'C', '1'};
  std::uint32_t header_bytes = 64;
  std::uint32_t record_bytes = 32;
  std::uint64_t lost = 0;
  std::int64_t realtime_offset = 0;
  Source source = Source::executor;
  std::uint32_t flags = 0;
  std::int32_t write_error = 0;
  std::array<std::uint8_t, 20> padding = {};

  static constexpr std::uint32_t closed_in_order = 1;
};
static_assert(sizeof(FileHeader) == 64);

class TAKT_CORE_PUBLIC TraceWriter {
 public:
  // Creates the file, or empties it. Throws std::system_error with the path.
  TraceWriter(const std::filesystem::path& path, Source source);
  // Closes; an error of the last write is lost here: call close() to see it.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  TraceWriter(TraceWriter&&) = delete;
  TraceWriter& operator=(TraceWriter&&) = delete;

  // All may be called from any thread and throw std::system_error when the file cannot be written;
  // the events of that call and those buffered before it then count as lost.
  void name(NameKind kind, std::uint16_t id, std::string_view text);
  void attribute(std::string_view key, std::string_view value);
  void write(const Event& event) { write(std::span{&event, 1}); }
  void write(std::span<const Event> events);
  void flush();
  void close();  // marks the trace as closed in order; nothing can be written afterwards

  void add_lost(std::uint64_t count) noexcept;
  void note_write_error(int error) noexcept;  // an errno; of several the first is kept, 0 is none
  void sync();  // waits until what was flushed is on the disk; throws std::system_error
  std::uint64_t lost() const noexcept;

 private:
  void append(const void* record);
  void flush_locked();
  void note_locked(int error) noexcept;
  void write_header();

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  FileHeader header_;
  std::vector<std::byte> buffer_;
  std::uint64_t end_ = sizeof(FileHeader);  // where the next records go
  int file_ = -1;
};

}  // namespace takt::trace
