// SPDX-License-Identifier: Apache-2.0
#include "pointers.hpp"

#include <atomic>
#include <mutex>

namespace takt_rclcpp {

Pointers& Pointers::of_process() noexcept {
  static auto& all = *new Pointers;  // NOLINT(cppcoreguidelines-owning-memory): until the end
  return all;
}

std::int64_t Pointers::next_stamp() noexcept {
  static std::atomic<std::int64_t> last{0};
  return last.fetch_sub(1, std::memory_order_relaxed) - 1;
}

void Pointers::put(const Place& place, std::optional<std::int64_t> stamp) noexcept {
  const std::lock_guard lock{mutex_};
  Kept& here = kept(place);
  if (stamp) {
    here = {.place = place, .stamp = *stamp};
  } else if (here.place == place) {
    here = {};
  }
}

std::optional<std::int64_t> Pointers::take(const Place& place) noexcept {
  const std::lock_guard lock{mutex_};
  Kept& here = kept(place);
  if (here.place != place) {
    return {};
  }
  const std::int64_t stamp = here.stamp;
  here = {};
  return stamp;
}

// Places of one buffer are neighbours and get places apart.
Pointers::Kept& Pointers::kept(const Place& place) noexcept {
  constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // of Fibonacci hashing
  constexpr unsigned high = 32;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): only to spread
  const auto address = reinterpret_cast<std::uintptr_t>(place.buffer);
  return kept_.at(((address * spread >> high) + place.index) % remembered);
}

}  // namespace takt_rclcpp
