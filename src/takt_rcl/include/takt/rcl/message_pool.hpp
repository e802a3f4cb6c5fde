// SPDX-License-Identifier: Apache-2.0
/// @file
/// MessagePool: messages that are reused, so that passing them on as shared_ptr<const MessageT>
/// costs no allocation. A message belongs either to the pool or to its users: the last user's
/// pointer returns it, and weak pointers to it have expired by then. It keeps the capacity of its
/// sequences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/block_pool.hpp>
#include <utility>
#include <vector>

namespace takt::detail {

template <class MessageT>
class MessagePool {
 public:
  /// Lets the pool keep `more` messages beyond the present limit. Each is allocated on first use,
  /// because messages may be large and few of them needed.
  void grow(std::size_t more) {
    blocks_->grow(more);
    free_->grow(more);
  }

  /// Lowers the limit by `less`. A message in use exists as long as its users keep it.
  void shrink(std::size_t less) {
    free_->shrink(less);
    blocks_->shrink(less);
  }

  /// A message with arbitrary content that only the caller may write, until it is passed on. From
  /// any thread. Allocates while the pool grows, and if users keep more messages than the limit.
  [[nodiscard]] std::shared_ptr<MessageT> get() {
    std::unique_ptr<MessageT> message = free_->take();
    if (message == nullptr) {
      message = std::make_unique<MessageT>();
    }
    return {message.release(), GiveBack{free_}, BlockAllocator<MessageT>{blocks_}};
  }

 private:
  // The messages without users.
  class Free {
   public:
    void grow(std::size_t more) {
      const std::lock_guard lock{mutex_};
      messages_.reserve(allowed_ + more);
      allowed_ += more;
    }

    void shrink(std::size_t less) {
      std::vector<std::unique_ptr<MessageT>> surplus;  // destroyed when the lock is free again
      const std::lock_guard lock{mutex_};
      allowed_ -= less;
      std::vector<std::unique_ptr<MessageT>> kept;
      kept.reserve(allowed_);
      while (kept.size() < allowed_ && !messages_.empty()) {
        kept.push_back(std::move(messages_.back()));
        messages_.pop_back();
      }
      surplus.swap(messages_);
      messages_.swap(kept);
    }

    // Null: there is none.
    [[nodiscard]] std::unique_ptr<MessageT> take() noexcept {
      const std::lock_guard lock{mutex_};
      if (messages_.empty()) {
        return nullptr;
      }
      std::unique_ptr<MessageT> message = std::move(messages_.back());
      messages_.pop_back();
      return message;
    }

    void keep(std::unique_ptr<MessageT> message) noexcept {
      const std::lock_guard lock{mutex_};
      if (messages_.size() < allowed_) {
        messages_.push_back(std::move(message));  // there is room: see grow()
      }
    }

   private:
    executor::PriorityMutex mutex_;
    std::vector<std::unique_ptr<MessageT>> messages_;
    std::size_t allowed_{0};
  };

  struct GiveBack {
    std::shared_ptr<Free> free;
    void operator()(MessageT* message) const noexcept {
      free->keep(std::unique_ptr<MessageT>{message});
    }
  };

  std::shared_ptr<Free> free_{std::make_shared<Free>()};  // messages may outlive the pool
  std::shared_ptr<BlockPool> blocks_{std::make_shared<BlockPool>()};
};

}  // namespace takt::detail
