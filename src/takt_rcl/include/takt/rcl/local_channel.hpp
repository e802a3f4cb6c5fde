// SPDX-License-Identifier: Apache-2.0
/// @file
/// LocalChannel: what publishers and subscriptions of one topic and type in one context share: the
/// queues of the readers, and memory that is reused for messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/block_pool.hpp>
#include <takt/rcl/local_queue.hpp>
#include <takt/rcl/message_pool.hpp>
#include <takt/rcl/visibility.hpp>
#include <typeindex>
#include <utility>
#include <vector>

namespace takt::detail {

struct NodeHandle;

template <class MessageT>
class LocalChannel {
 public:
  using Queue = LocalQueue<MessageT>;
  using Queues = std::vector<std::shared_ptr<Queue>>;

  void add(const std::shared_ptr<Queue>& queue) {
    pool_.grow(needs_of(*queue));
    blocks_->grow(needs_of(*queue));
    change([&](Queues& queues) { queues.push_back(queue); });
  }
  // Releases the memory that was added for it.
  void remove(const std::shared_ptr<Queue>& queue) {
    change([&](Queues& queues) { std::erase(queues, queue); });
    pool_.shrink(needs_of(*queue));
    blocks_->shrink(needs_of(*queue));
  }

  // The present readers, null if there are none. The list is immutable and keeps its queues alive.
  [[nodiscard]] std::shared_ptr<const Queues> queues() const noexcept {
    if (!used_.load(std::memory_order_acquire)) {
      return nullptr;
    }
    const std::lock_guard lock{mutex_};
    return queues_;
  }

  [[nodiscard]] MessagePool<MessageT>& pool() noexcept { return pool_; }

  // The message at the same address, to be shared.
  [[nodiscard]] std::shared_ptr<const MessageT> share(std::unique_ptr<MessageT> message) {
    MessageT* const address = message.release();
    return std::shared_ptr<const MessageT>(address, std::default_delete<const MessageT>{},
                                           BlockAllocator<MessageT>{blocks_});
  }

 private:
  // One more than the queue holds is in the callback, one in the publisher's hands.
  [[nodiscard]] static std::size_t needs_of(const Queue& queue) noexcept {
    return queue.depth() + 2;
  }

  template <class Function>
  void change(Function function) {
    const std::lock_guard changing{change_mutex_};
    auto changed = std::make_shared<Queues>();
    if (const auto present = queues()) {
      *changed = *present;
    }
    function(*changed);
    std::shared_ptr<const Queues> former = changed->empty() ? nullptr : std::move(changed);
    const std::lock_guard lock{mutex_};
    queues_.swap(former);
    used_.store(queues_ != nullptr, std::memory_order_release);
  }

  std::mutex change_mutex_;  // one change at a time
  mutable executor::PriorityMutex mutex_;
  std::shared_ptr<const Queues> queues_;
  std::atomic<bool> used_{false};
  MessagePool<MessageT> pool_;
  std::shared_ptr<BlockPool> blocks_{std::make_shared<BlockPool>()};
};

// The channel of that topic (its full name) and type in the node's context, null where the context
// has intra-process delivery off. Made by `make` when it is the first of its kind.
[[nodiscard]] TAKT_RCL_PUBLIC std::shared_ptr<void> find_channel(const NodeHandle& node,
                                                                 const std::string& topic,
                                                                 std::type_index type,
                                                                 std::shared_ptr<void> (*make)());

template <class MessageT>
std::shared_ptr<LocalChannel<MessageT>> find_channel(const NodeHandle& node,
                                                     const std::string& topic) {
  return std::static_pointer_cast<LocalChannel<MessageT>>(find_channel(
      node, topic, typeid(MessageT),
      []() -> std::shared_ptr<void> { return std::make_shared<LocalChannel<MessageT>>(); }));
}

}  // namespace takt::detail
