// SPDX-License-Identifier: Apache-2.0
/// @file
/// LocalQueue: the messages from publishers of the same context that wait at one subscription,
/// passed by pointer. Bounded by the depth of KEEP_LAST: a new message replaces the oldest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <takt/executor/mutex.hpp>
#include <takt/os/clock.hpp>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/notice.hpp>
#include <utility>
#include <vector>

namespace takt::detail {

/// A message in transit, owned by one reader or shared by several: exactly one of the two pointers
/// is set.
template <class MessageT>
struct Parcel {
  std::unique_ptr<MessageT> owned{};
  std::shared_ptr<const MessageT> shared{};
  MessageInfo info{};
  os::TimePoint sampled{};
  /// Its stamp, if it came through the middleware: by that the executor knows who made it.
  std::optional<std::int64_t> key{};

  [[nodiscard]] const MessageT& message() const noexcept { return owned ? *owned : *shared; }
};

/// push() from any thread, pop() from one thread at a time. Holds its lock only for the move of a
/// pointer; messages are destroyed outside of it.
template <class MessageT>
class LocalQueue {
 public:
  /// @param depth how many messages it keeps; the oldest is dropped for a new one.
  /// @param reliable accepts reliable publishers only, as in DDS.
  /// @param owning the callback takes unique_ptr.
  /// @param turn see Notice.
  LocalQueue(std::size_t depth, bool reliable, bool owning,
             std::shared_ptr<Notice::Turn> turn = std::make_shared<Notice::Turn>())
      : notice{std::max<std::size_t>(depth, 1), std::move(turn)},
        slots_(std::max<std::size_t>(depth, 1)),
        reliable_{reliable},
        owning_{owning} {}

  [[nodiscard]] bool hears(bool reliable_publisher) const noexcept {
    return reliable_publisher || !reliable_;
  }
  [[nodiscard]] bool owning() const noexcept { return owning_; }
  [[nodiscard]] std::size_t depth() const noexcept { return slots_.size(); }

  void push(Parcel<MessageT> parcel) noexcept {
    Parcel<MessageT> dropped;
    const std::lock_guard lock{mutex_};
    if (size_ == slots_.size()) {
      dropped = std::move(slots_[first_]);
      first_ = after(first_, 1);
      --size_;
      dropped_.fetch_add(1, std::memory_order_relaxed);
      notice.gone(1);
    }
    slots_[after(first_, size_)] = std::move(parcel);
    ++size_;
  }

  // The oldest. False when there is none.
  [[nodiscard]] bool pop(Parcel<MessageT>& parcel) noexcept {
    const std::lock_guard lock{mutex_};
    if (size_ == 0) {
      return false;
    }
    parcel = std::move(slots_[first_]);
    first_ = after(first_, 1);
    --size_;
    notice.gone(1);
    return true;
  }

  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_relaxed);
  }

  Notice notice;  // called by the publisher after push()

 private:
  [[nodiscard]] std::size_t after(std::size_t slot, std::size_t count) const noexcept {
    return slot + count < slots_.size() ? slot + count : slot + count - slots_.size();
  }

  executor::PriorityMutex mutex_;
  std::vector<Parcel<MessageT>> slots_;
  std::size_t first_{0};
  std::size_t size_{0};
  std::atomic<std::uint64_t> dropped_{0};
  const bool reliable_;
  const bool owning_;
};

}  // namespace takt::detail
