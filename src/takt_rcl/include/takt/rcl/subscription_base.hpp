// SPDX-License-Identifier: Apache-2.0
/// @file
/// SubscriptionBase: the part of a subscription that does not depend on the type of its messages.
#pragma once

#include <rcl/subscription.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <takt/executor/input.hpp>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/qos.hpp>
#include <takt/rcl/status.hpp>
#include <takt/rcl/subscription_options.hpp>
#include <takt/rcl/visibility.hpp>
#include <type_traits>
#include <utility>

namespace takt {

namespace detail {
class IncompatibleQos;
struct NodeHandle;
class Notice;
}  // namespace detail

/// The base of all subscriptions. As an executor::Input it delivers every waiting message to its
/// callback, or keeps the newest one if it has no callback. Owned by shared pointers only.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor,misc-multiple-inheritance)
class TAKT_RCL_PUBLIC SubscriptionBase : public executor::Input,
                                         public std::enable_shared_from_this<SubscriptionBase> {
 public:
  SubscriptionBase(const SubscriptionBase&) = delete;
  SubscriptionBase& operator=(const SubscriptionBase&) = delete;
  SubscriptionBase(SubscriptionBase&&) = delete;
  SubscriptionBase& operator=(SubscriptionBase&&) = delete;

  /// Sets a function that is called when messages arrive, in place of a wait set.
  ///
  /// The function must be noexcept and must not block, wait or take: it runs on a thread of the
  /// middleware, under the middleware's lock of this subscription, and delays every message behind
  /// it. Notify a thread of your own (an event, a lock-free queue) and take there.
  ///
  /// - For a publisher of this process the function runs inside of publish(), on the publishing
  ///   thread; for another process on a receiving thread of the middleware.
  /// - Messages that already wait are announced at once, on the setting thread: those that were
  ///   never announced, and those that were announced and not taken.
  /// - The count is not exact: a full KEEP_LAST history drops messages after they were announced,
  ///   so a take that finds nothing is normal. Take until nothing is left instead of counting.
  ///
  /// When this returns, the former function is neither running nor called again; a function that
  /// replaces or clears itself runs to its end.
  /// @param function void(std::size_t count) noexcept, called for every `count` messages that
  /// arrived.
  /// @throws RclError if the middleware refuses.
  /// @throws std::logic_error while an executor has the subscription.
  template <class Function>
  void set_on_new_message_callback(Function function) {
    static_assert(
        std::is_nothrow_invocable_v<Function&, std::size_t>,
        "the callback must be callable as void(std::size_t) noexcept: it runs on a thread "
        "of the middleware, where nothing could catch an exception");
    refuse_while_claimed();
    listen(std::move(function));
  }

  /// Removes the function; the guarantees are those of set_on_new_message_callback().
  /// @throws RclError if the middleware refuses.
  /// @throws std::logic_error while an executor has the subscription.
  void clear_on_new_message_callback();

  /// Matched publishers of all processes; 0 also if the middleware cannot tell.
  [[nodiscard]] std::size_t get_publisher_count() const noexcept;

  /// Whether take_loaned() can work: the type has a fixed size, the middleware lends, and the
  /// options or ROS_DISABLE_LOANED_MESSAGES=0 allow it.
  [[nodiscard]] bool can_loan_messages() const noexcept;

  /// The full name, after expansion and remapping.
  [[nodiscard]] std::string get_topic_name() const;

  /// The QoS that the middleware granted.
  /// @throws RclError if it cannot tell.
  [[nodiscard]] QoS get_actual_qos() const;

  /// "node.topic", followed by a number if the node has several subscriptions to the topic.
  [[nodiscard]] const std::string& get_name() const noexcept { return name_; }

  /// Whether publishers of this context pass their messages by pointer.
  [[nodiscard]] bool uses_intra_process() const noexcept { return uses_intra_process_; }

  /// Messages that were passed by pointer and dropped for newer ones because the queue was full.
  /// The middleware does not report what it drops.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;

  /// For executors: delivers the oldest waiting message, for the subscription's own task. Waits for
  /// a running callback on whatever core, for one execution of it, and lends it its priority.
  ///
  /// Deliveries exclude each other, so the callback never runs twice at a time; from inside of the
  /// callback they deliver nothing. deliver_pending(), which precedes a reader's callback, does not
  /// wait for a callback on another core: the reader then has the data that was delivered before,
  /// with its sample time, and the message in the callback and those behind it are left to the
  /// other thread and to the next delivery. A callback on its own core, which the reader has
  /// preempted, ends first. Without a callback, a delivery takes a message, and all wait for each
  /// other. An exception of the callback is passed on: its message is lost, later ones wait.
  virtual executor::Delivered deliver_oldest() = 0;

  /// For executors: delivers the newest waiting message and drops older ones; otherwise as
  /// deliver_oldest().
  virtual executor::Delivered deliver_newest() = 0;

  /// Whether messages are delivered to a callback; otherwise into latest().
  [[nodiscard]] virtual bool has_callback() const noexcept = 0;

  /// For executors: reserves the subscription, so that only `owner` takes messages from now on.
  /// @param owner identifies the executor; it may claim again to change the function.
  /// @param function called for messages that wait and that arrive; empty: they are remembered for
  /// the next function.
  /// @throws std::logic_error if another owner has claimed it.
  /// @throws RclError if the middleware refuses.
  void claim(const void* owner, std::function<void(std::size_t)> function);

  /// For executors: ends the reservation; no effect for another owner.
  void release(const void* owner) noexcept;

  /// The subscription of rcl, for wait sets.
  [[nodiscard]] const rcl_subscription_t& get_subscription_handle() const noexcept {
    return subscription_;
  }

 protected:
  SubscriptionBase(std::shared_ptr<detail::NodeHandle> node,
                   const rosidl_message_type_support_t* type_support, const std::string& topic,
                   const QoS& qos, const SubscriptionOptions& options);
  ~SubscriptionBase() override;

  // Must be called first in the destructor of the derived class.
  void stop_listening() noexcept;

  [[nodiscard]] Status take_message(void* message, MessageInfo& info) noexcept;
  [[nodiscard]] Status take_loan(void*& message, MessageInfo& info) noexcept;

  // Like take_message(), but calls the middleware only after it has announced a message, because a
  // call in vain is not free. For listeners.
  [[nodiscard]] bool take_announced(void* message, MessageInfo& info) noexcept;

  // Shared by the announcements of the middleware and of messages that are passed by pointer.
  [[nodiscard]] std::shared_ptr<executor::RecursivePriorityMutex> turn() const;
  [[nodiscard]] virtual detail::Notice* local_notice() noexcept = 0;

  std::shared_ptr<detail::NodeHandle> node_;

 private:
  template <class>
  friend class ReceivedLoan;

  void refuse_while_claimed() const;
  void listen(std::function<void(std::size_t)> function);
  void return_loan(void* message) noexcept;
  void count_taken(const Status& status, std::uint64_t waiting) noexcept;

  std::string name_;
  bool uses_intra_process_{false};
  rcl_subscription_t subscription_;
  std::unique_ptr<detail::IncompatibleQos> incompatible_;
  std::unique_ptr<detail::Notice> notice_;  // of messages from the middleware
  std::atomic<bool> listening_{false};
  std::atomic<const void*> owner_{nullptr};
};

}  // namespace takt
