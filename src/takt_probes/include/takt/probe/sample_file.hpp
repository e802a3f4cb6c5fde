// SPDX-License-Identifier: Apache-2.0
//
// A sample file is memory that outlives the process: it is created, sized, mapped and touched
// before the measuring loop starts, so that recording a sample is four stores and a count. The
// count is stored last, with release order; a reader (or what is left after SIGKILL) therefore sees
// complete records only. Layout: docs/reference/probes.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "takt/os/clock.hpp"

namespace takt::probe {

/// What stands for the reception of a sample that was lost.
inline constexpr os::TimePoint never{};

/// One record of the file. Times are CLOCK_MONOTONIC in ns; `received` is 0 for a lost sample.
struct Sample {
  std::uint64_t sequence;
  std::int64_t intended;
  std::int64_t sent;
  std::int64_t received;
};
static_assert(sizeof(Sample) == 32);

/// The first bytes of the file; the rest of its 4096 bytes is zero.
struct SampleHeader {
  char magic[8];
  std::uint32_t header_bytes;
  std::uint32_t record_bytes;
  std::uint64_t capacity;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> dropped;
  std::int64_t realtime_minus_monotonic;  // ns, at the start
};
static_assert(sizeof(SampleHeader) == 48);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Writer of one sample file; one thread records at a time.
class SampleFile {
 public:
  static constexpr std::size_t header_bytes = 4096;

  /// Creates `path` (which must not exist: nothing recorded is ever overwritten) for `capacity`
  /// records. Throws Failure when the file cannot be created, sized or mapped.
  SampleFile(const std::filesystem::path& path, std::uint64_t capacity);
  ~SampleFile();
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  /// Appends a record, or counts it as dropped when the file is full. Does not allocate or enter
  /// the kernel.
  void record(std::uint64_t sequence, os::TimePoint intended, os::TimePoint sent,
              os::TimePoint received) noexcept {
    const auto index = header_->count.load(std::memory_order_relaxed);
    if (index == header_->capacity) {
      header_->dropped.store(header_->dropped.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
      return;
    }
    samples_[index] = {sequence, intended.time_since_epoch().count(),
                       sent.time_since_epoch().count(), received.time_since_epoch().count()};
    header_->count.store(index + 1, std::memory_order_release);
  }

  /// Moves the reception of the last record; there has to be one.
  void prolong_last(os::TimePoint received) noexcept {
    const auto count = header_->count.load(std::memory_order_relaxed);
    samples_[count - 1].received = received.time_since_epoch().count();
  }

  std::uint64_t count() const noexcept { return header_->count.load(std::memory_order_acquire); }
  std::uint64_t dropped() const noexcept { return header_->dropped.load(); }
  std::uint64_t capacity() const noexcept { return header_->capacity; }

  /// Whether the pages are locked in memory; without that they are merely touched.
  bool locked() const noexcept { return locked_; }

 private:
  std::size_t bytes_;
  SampleHeader* header_ = nullptr;
  Sample* samples_ = nullptr;
  bool locked_ = false;
};

}  // namespace takt::probe
