// SPDX-License-Identifier: Apache-2.0
//
// MessagePool: messages that are used again and again, so that handing them over as
// shared_ptr<const MessageT> costs no allocation: a message is free when nobody but the pool refers
// to it. It keeps the capacity of its sequences.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <takt/executor/mutex.hpp>
#include <vector>

namespace takt::detail {

template <class MessageT>
class MessagePool {
 public:
  // Lets the pool keep `more` messages beyond those allowed so far. Each is allocated when it is
  // first needed, because a message may be large and the need small.
  void grow(std::size_t more) {
    const std::lock_guard lock{mutex_};
    allowed_ += more;
    messages_.reserve(allowed_);
  }

  // Takes as much back. A message that is in use lives as long as its users have it.
  void shrink(std::size_t less) {
    std::vector<std::shared_ptr<MessageT>> surplus;  // destroyed when the lock is free again
    const std::lock_guard lock{mutex_};
    allowed_ -= less;
    std::vector<std::shared_ptr<MessageT>> kept;
    kept.reserve(allowed_);
    const std::size_t count = std::min(messages_.size(), allowed_);
    std::move(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(count),
              std::back_inserter(kept));
    surplus.swap(messages_);
    messages_.swap(kept);
  }

  // A message with any content that the caller alone may write, until it is handed on. From any
  // thread. Allocates while the pool grows, and when its users keep more than the pool may have.
  [[nodiscard]] std::shared_ptr<MessageT> get() {
    {
      const std::lock_guard lock{mutex_};
      for (std::size_t i = 0; i < messages_.size(); ++i) {
        next_ = next_ + 1 < messages_.size() ? next_ + 1 : 0;
        if (messages_[next_].use_count() == 1) {
          // What its last user read or wrote happened before.
          std::atomic_thread_fence(std::memory_order_acquire);
          return messages_[next_];
        }
      }
    }
    auto message = std::make_shared<MessageT>();
    const std::lock_guard lock{mutex_};
    if (messages_.size() < allowed_) {
      messages_.push_back(message);
    }
    return message;
  }

 private:
  executor::PriorityMutex mutex_;
  std::vector<std::shared_ptr<MessageT>> messages_;
  std::size_t allowed_{0};
  std::size_t next_{0};
};

}  // namespace takt::detail
