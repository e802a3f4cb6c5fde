// SPDX-License-Identifier: Apache-2.0
//
// Messages that rclcpp passes as pointers have no stamp of the middleware. They get one here when
// they are published, and it is known by the place of the reader's ring buffer in which the pointer
// lies until the reader takes it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "takt/executor/mutex.hpp"

namespace takt_rclcpp {

class Pointers {
 public:
  struct Place {
    const void* buffer = nullptr;
    std::uint64_t index = 0;

    bool operator==(const Place&) const = default;
  };

  // Of the process, and for good: nodes outlive executors.
  [[nodiscard]] static Pointers& of_process() noexcept;
  // From here on: an executor has limits or writes a trace. Without, no message costs anything.
  static void follow() noexcept { follows.store(true, std::memory_order_relaxed); }
  [[nodiscard]] static bool followed() noexcept { return follows.load(std::memory_order_relaxed); }
  // Below 0, so that the middleware has none like it. Wait-free.
  [[nodiscard]] static std::int64_t next_stamp() noexcept;

  // Nothing: a message that nobody follows; what was in the place is forgotten.
  void put(const Place& place, std::optional<std::int64_t> stamp) noexcept;
  // Nothing: not followed, or one too many has been put since.
  [[nodiscard]] std::optional<std::int64_t> take(const Place& place) noexcept;

 private:
  struct Kept {
    Place place;
    std::int64_t stamp = 0;
  };
  static constexpr std::size_t remembered = 4096;  // messages that wait, of all buffers

  [[nodiscard]] Kept& kept(const Place& place) noexcept;

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a flag alone
  static inline std::atomic<bool> follows{false};
  takt::executor::PriorityMutex mutex_;
  std::array<Kept, remembered> kept_{};
};

}  // namespace takt_rclcpp
