// SPDX-License-Identifier: Apache-2.0
//
// What all processes of a run share, in memory that a fork keeps common: the sequence numbers of
// the messages, and the moment at which everybody starts. Processes of other hosts share it by a
// file and by the clock that stamps in messages are of.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>

namespace takt::runner {

// What the processes of a host need of the other hosts.
struct Elsewhere {
  // Once all processes here are ready, FILE.ready is there; the start is what FILE holds then, in
  // ns of CLOCK_MONOTONIC here. Empty: there are no other hosts.
  std::filesystem::path meeting{};
  std::int64_t first_sequence{0};            // so that two hosts never give a message one number
  std::chrono::nanoseconds clock_offset{0};  // of the clock of stamps in messages, less this one's
};

class Common {
 public:
  // For `topics` topics, `processes` that start together, and `devices`. Throws std::system_error.
  Common(std::size_t topics, std::size_t processes, Elsewhere elsewhere = {},
         std::size_t devices = 0);
  ~Common();
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
  Common(Common&&) = delete;
  Common& operator=(Common&&) = delete;

  // The number of the next message of a topic, from 0, whoever writes it.
  std::int64_t next_sequence(std::size_t topic) noexcept {
    return sequences()[topic].fetch_add(1, std::memory_order_relaxed);
  }

  // Until when a device is occupied, as far as it was asked, in ns of CLOCK_MONOTONIC.
  [[nodiscard]] std::atomic<std::int64_t>& device(std::size_t number) const noexcept {
    return sequences()[topics_ + number];
  }

  // Times of this host's clock as messages carry them, and back.
  [[nodiscard]] std::int64_t stamp(os::TimePoint time) const noexcept {
    return (time + elsewhere_.clock_offset).time_since_epoch().count();
  }
  [[nodiscard]] os::TimePoint time_of(std::int64_t stamp) const noexcept {
    return os::TimePoint{std::chrono::nanoseconds{stamp} - elsewhere_.clock_offset};
  }

  // Says that the caller is ready, and sleeps until all are. The moment at which releases begin, a
  // little later; nothing when a stop was requested meanwhile, or another one failed. Throws
  // std::runtime_error for a start that came too late.
  [[nodiscard]] std::optional<os::TimePoint> meet(const os::StopFlag& stop);

  // Says that the caller will never be ready.
  void fail() noexcept;
  [[nodiscard]] bool failed() const noexcept;

 private:
  using Counter = std::atomic<std::int64_t>;
  static_assert(Counter::is_always_lock_free, "it works between processes");
  struct Meeting {
    std::atomic<std::uint64_t> ready{0};
    std::atomic<bool> failed{false};
    Counter start{0};  // CLOCK_MONOTONIC in ns, 0: not yet
  };
  [[nodiscard]] Counter* sequences() const noexcept { return sequences_; }
  void agree_here();
  void look_at_the_meeting();

  std::size_t topics_;
  std::size_t processes_;
  Elsewhere elsewhere_;
  std::size_t bytes_;
  Meeting* meeting_;
  Counter* sequences_;
};

}  // namespace takt::runner
