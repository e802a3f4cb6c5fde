// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes a trace file. The simulator uses it directly; the Tracer passes on the rings of real-time
/// threads. Not for real-time threads themselves, because it writes to a file.
///
/// The file, little endian, is a header of 64 bytes, followed by records of 32 bytes:
///
/// ```text
///  0  8 bytes  "TAKTTRC1"
///  8  u32      size of the header, 64
/// 12  u32      size of a record, 32
/// 16  u64      events lost so far (rings that were full, writes that failed)
/// 24  i64      CLOCK_REALTIME - CLOCK_MONOTONIC at the start, ns; 0 for virtual time
/// 32  u32      source: 1 executor, 2 simulator
/// 36  u32      flags: bit 0: closed in order (a killed process leaves it 0)
/// 40  i32      errno of the first write that failed, 0: none did
/// 44  zeros
/// 48  u64      records of the file when it was closed: with fewer it is cut off; 0: not known
/// 56  zeros
/// ```
///
/// A record is an Event or a NameRecord (event.hpp). Records are appended, never changed: a trace
/// whose process was killed is valid up to the last flush; an incomplete record at its end is
/// ignored. Events of one thread are in their order; sort by time to merge the threads.
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

/// Who wrote a trace.
// NOLINTNEXTLINE(performance-enum-size): as wide as in the file
enum class Source : std::uint32_t {
  executor = 1,   ///< an executor, in real time
  simulator = 2,  ///< the simulator, in virtual time
};

/// The header of a file, as described above.
struct FileHeader {
  /// Identifies the format and its version.
  std::array<char, 8> magic = {'T', 'A', 'K', 'T', 'T', 'R', 'C', '1'};
  std::uint32_t header_bytes = 64;           ///< Size of this header.
  std::uint32_t record_bytes = 32;           ///< Size of a record.
  std::uint64_t lost = 0;                    ///< Events that the file lacks.
  std::int64_t realtime_offset = 0;          ///< CLOCK_REALTIME - CLOCK_MONOTONIC, ns.
  Source source = Source::executor;          ///< Who wrote it.
  std::uint32_t flags = 0;                   ///< closed_in_order or 0.
  std::int32_t write_error = 0;              ///< An errno, 0: none.
  std::array<std::uint8_t, 4> padding = {};  ///< Zeros.
  std::uint64_t records = 0;                 ///< Those of a closed file, 0: not known.
  std::array<std::uint8_t, 8> unused = {};   ///< Zeros.

  static constexpr std::uint32_t closed_in_order = 1;  ///< The bit of `flags`.
};
static_assert(sizeof(FileHeader) == 64);

/// Writes a trace file. All functions are thread-safe. After a failed write the events of that
/// call, and those buffered before it, count as lost.
class TAKT_CORE_PUBLIC TraceWriter {
 public:
  /// Creates the file, or empties it.
  /// @throws std::system_error with the path.
  TraceWriter(const std::filesystem::path& path, Source source);

  /// Closes the file. An error of the last write is lost: call close() to get it.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  TraceWriter(TraceWriter&&) = delete;
  TraceWriter& operator=(TraceWriter&&) = delete;

  /// Names a task, topic or scenario.
  /// @throws std::system_error if the file cannot be written.
  void name(NameKind kind, std::uint16_t id, std::string_view text);

  /// Stores a text "key=value" about the whole trace.
  /// @throws std::system_error if the file cannot be written.
  void attribute(std::string_view key, std::string_view value);

  /// Appends one event.
  /// @throws std::system_error if the file cannot be written.
  void write(const Event& event) { write(std::span{&event, 1}); }

  /// Appends events.
  /// @throws std::system_error if the file cannot be written.
  void write(std::span<const Event> events);

  /// Passes buffered records to the kernel.
  /// @throws std::system_error if the file cannot be written.
  void flush();

  /// Marks the trace as closed in order; nothing can be written afterwards.
  /// @throws std::system_error if the file cannot be written.
  void close();

  /// Counts events that never reached the writer.
  void add_lost(std::uint64_t count) noexcept;

  /// Stores an errno in the header; the first one is kept, 0 is ignored.
  void note_write_error(int error) noexcept;

  /// Waits until flushed records are on the disk.
  /// @throws std::system_error if that fails.
  void sync();

  /// Events lost so far.
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
