// SPDX-License-Identifier: Apache-2.0
//
// A recording: the file of one process, mapped into its memory, so that what was recorded outlives
// it however it ends. The space is reserved when the file is made, as a disk that fills up later
// would end the process; when it is used up, events are counted and no longer recorded.
//
// A ring keeps the newest events instead. What names things (nodes, topics, timers) stands before
// it and is never overwritten. The ring consists of blocks: an event lies within one, and a reader
// finds the events of each block from its begin on, wherever the writers stood when the process was
// killed. The thread that enters a block clears the one after it, which has the oldest events; a
// thread that comes to a block before it is cleared counts its event instead of waiting. An event's
// place in the ring is the number of bytes that the ring was given before it.
//
// Any thread appends at any time: it reserves its part by one atomic addition and writes the size
// of that part, marked as unfinished, before anything else of it. It takes the mark away at the
// end. So a reader steps over what threads were writing when the process was killed. Nothing here
// takes a lock or allocates after create(), which may throw std::bad_alloc. No thread is started in
// the program that is recorded.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace takt_record {

inline constexpr std::uint64_t magic = 0x32434552544b4154;  // "TAKTREC2" in memory
inline constexpr std::size_t alignment = 8;                 // of events, in bytes
inline constexpr std::size_t block_bytes = 64U << 10;       // of a ring, with its number
inline constexpr std::size_t block_room = block_bytes - sizeof(std::uint64_t);  // for events
inline constexpr std::uint16_t no_event = 0xFFFF;        // fills the end of a block
inline constexpr std::uint32_t unfinished = 0x80000000;  // of the size of an event

/// The begin of the file; times in ns. What follows it are `names` bytes of text: the names and
/// parameters of the events, then the program and its arguments; then events.
struct Header {
  std::uint64_t magic;
  std::uint64_t bytes;                 // of the whole file while it is recorded
  std::atomic<std::uint64_t> end;      // where the next event goes; beyond `bytes`: it is full
  std::atomic<std::uint64_t> dropped;  // events for which there was no space
  std::int64_t monotonic;              // CLOCK_MONOTONIC and
  std::int64_t realtime;               // CLOCK_REALTIME at the same moment
  std::int32_t process;
  std::uint32_t names;                  // bytes of text after this header, padded to `alignment`
  std::uint64_t ring;                   // where the blocks begin; 0: there is no ring
  std::atomic<std::uint64_t> ring_end;  // bytes of events that the ring was given so far
};
static_assert(sizeof(Header) == 72 && std::atomic<std::uint64_t>::is_always_lock_free);

/// The begin of an event; its arguments follow, each padded to `alignment`.
struct EventHead {
  std::atomic<std::uint32_t> bytes;  // of it all, and `unfinished`; 0: nothing of it is written
  std::uint16_t event;               // its place in the list of names
  std::uint16_t core;
  std::int64_t time;     // CLOCK_MONOTONIC, ns
  std::int64_t cpu;      // CPU time of the thread, ns: see ThreadTime; -1: not a callback's
  std::uint32_t thread;  // of the kernel
  std::uint32_t check;   // in a ring: see check_of(); else 0
};
static_assert(sizeof(EventHead) == 32);

/// All words of an event and its place in the ring, folded: a thread that slept within an event for
/// a whole turn of the ring damages newer events, and a reader finds these by it. `check` counts as
/// 0.
std::uint32_t check_of(const std::byte* event, std::uint64_t bytes, std::uint64_t place) noexcept;

/// What an event is.
enum class Kind : std::uint8_t {
  name,   ///< Names things: recorded also while the recording pauses, kept by a ring.
  event,  ///< Happens again and again.
  begin,  ///< The same, of a callback, with the CPU time of its thread.
  end,    ///< The same.
  clock,  ///< The same, of another event.
  /// The same. No event ends the callback of a response: those that follow in its thread have the
  /// CPU time, too, up to the next begin.
  response,
};

/// What a recording is to do when its space is used up.
enum class Full : std::uint8_t { stop, ring };

/// The file by which `takt record` pauses and resumes all processes of a folder.
struct Control {
  std::uint64_t magic;
  std::atomic<std::uint32_t> on;
  std::uint32_t unused;
};
inline constexpr std::uint64_t control_magic = 0x314e4f43544b4154;  // "TAKTCON1" in memory

/// Arguments of one event, in place; text is cut after 1 KiB.
class Arguments {
 public:
  static constexpr std::size_t most = 4096;       // bytes
  static constexpr std::size_t most_text = 1024;  // bytes

  void add(std::uint64_t value) noexcept {
    if (most - size_ >= sizeof value) {
      std::memcpy(data_.data() + size_, &value, sizeof value);
      size_ += sizeof value;
    }
  }
  void add_text(const char* text) noexcept;
  void add_bytes(const void* bytes, std::size_t count) noexcept;

  [[nodiscard]] const std::byte* data() const noexcept { return data_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// The first one, a number; 0 where there is none.
  [[nodiscard]] std::uint64_t first() const noexcept {
    std::uint64_t value = 0;
    if (size_ >= sizeof value) {
      std::memcpy(&value, data_.data(), sizeof value);
    }
    return value;
  }

 private:
  void pad() noexcept;

  std::array<std::byte, most> data_;  // not zeroed for each event
  std::size_t size_ = 0;
};

/// The file of this process.
class Recording {
 public:
  /// Makes `path` with `bytes` of space, or less where the disk has less, at least 64 KiB. Returns
  /// an error message, empty where it worked. `names`: see Header.
  std::string create(const std::string& path, std::uint64_t bytes, std::string_view names,
                     Full full = Full::stop);

  /// Follows the control file at `path`; without one, everything is recorded.
  void follow(const std::string& path) noexcept;

  /// Appends an event of this moment and this thread; counts it where there is no space.
  void append(std::uint16_t event, const Arguments& arguments, Kind kind) noexcept;

  /// Leaves the file as it is and records nothing more: for the child of a fork.
  void forget() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return header_ != nullptr; }

 private:
  std::byte* block(std::uint64_t number) const noexcept;
  bool ready(std::uint64_t number) const noexcept;
  void clear(std::uint64_t number) noexcept;
  void fill(std::uint64_t number, std::uint64_t from, std::uint64_t bytes) noexcept;
  std::byte* reserve(std::uint64_t bytes) noexcept;
  std::byte* reserve_in_ring(std::uint64_t bytes, std::uint64_t& place) noexcept;
  void write_ahead(std::uint64_t end, Kind kind) noexcept;

  Header* header_ = nullptr;
  std::uint64_t limit_ = 0;                  // where the space outside the ring ends
  std::atomic<std::uint64_t> writable_ = 0;  // up to here, without a page fault
  std::uint64_t blocks_ = 0;                 // of the ring
  const Control* control_ = nullptr;
};

}  // namespace takt_record
