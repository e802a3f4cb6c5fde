// SPDX-License-Identifier: Apache-2.0
//
// MatchedReaders: how many subscriptions the middleware has connected with a publisher. Asking it
// for every message costs more than handing the message over by pointer, so it tells when the
// number has changed, and is asked then.
#pragma once

#include <rcl/event.h>
#include <rcl/publisher.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace takt::detail {

class MatchedReaders {
 public:
  // The publisher must outlive this.
  explicit MatchedReaders(const rcl_publisher_t& publisher) noexcept;
  ~MatchedReaders();
  MatchedReaders(const MatchedReaders&) = delete;
  MatchedReaders& operator=(const MatchedReaders&) = delete;
  MatchedReaders(MatchedReaders&&) = delete;
  MatchedReaders& operator=(MatchedReaders&&) = delete;

  // From any thread. Nothing when the middleware cannot tell. The middleware counts a reader a
  // moment before it tells that the number has changed.
  [[nodiscard]] std::optional<std::size_t> count() noexcept;

  // Grows with each change of that number, from any thread.
  [[nodiscard]] std::uint32_t changes() const noexcept { return changes_.load(); }

  // The same, asked anew: whoever waits for a reader with this has it in count() from then on.
  [[nodiscard]] std::optional<std::size_t> count_anew() noexcept;

 private:
  // The number as it was after so many changes.
  struct Known {
    std::uint32_t changes;
    std::uint32_t count;
  };

  [[nodiscard]] std::optional<std::size_t> ask() const noexcept;

  const rcl_publisher_t& publisher_;
  rcl_event_t event_;
  bool notified_{false};  // of changes; else it is asked each time
  std::atomic<std::uint32_t> changes_{1};
  std::atomic<Known> known_{Known{.changes = 0, .count = 0}};
  static_assert(std::atomic<Known>::is_always_lock_free);
};

}  // namespace takt::detail
