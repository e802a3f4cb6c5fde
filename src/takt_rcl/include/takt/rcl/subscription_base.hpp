// SPDX-License-Identifier: Apache-2.0
//
// SubscriptionBase: what a subscription does without knowing the type of its messages.
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

// As an executor::Input it hands every message that is pending to its callback, or keeps the newest
// one where it has none.
// It is ended by shared pointers alone, which it can make of itself.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor,misc-multiple-inheritance)
class TAKT_RCL_PUBLIC SubscriptionBase : public executor::Input,
                                         public std::enable_shared_from_this<SubscriptionBase> {
 public:
  SubscriptionBase(const SubscriptionBase&) = delete;
  SubscriptionBase& operator=(const SubscriptionBase&) = delete;
  SubscriptionBase(SubscriptionBase&&) = delete;
  SubscriptionBase& operator=(SubscriptionBase&&) = delete;

  // `function(count)` is called for every `count` messages that arrived, instead of waiting in a
  // wait set. It must be noexcept and must not block, wait or take: it runs on a thread of the
  // middleware, under the middleware's lock of this subscription, and delays every message behind
  // it. Hand over to a thread of your own (an event, a lock-free queue) and take there.
  // - From a publisher of this process it runs inside publish(), on the publishing thread; from
  //   another process on a receiving thread of the middleware.
  // - Messages that wait when it is set are reported at once, on the setting thread: those that
  //   nobody was told of, and those that nobody has taken since.
  // - `count` is no promise: a full KEEP_LAST history drops messages after they were reported, so a
  //   take that finds nothing is normal. Take until nothing is left instead of counting.
  // When this returns, the function that was set before is neither running nor called again; where
  // it is the one that sets another one or clears it, it comes to its end. Throws RclError;
  // std::logic_error while an executor has the subscription.
  template <class Function>
  void set_on_new_message_callback(Function function) {
    static_assert(
        std::is_nothrow_invocable_v<Function&, std::size_t>,
        "the callback must be callable as void(std::size_t) noexcept: it runs on a thread "
        "of the middleware, where nothing could catch an exception");
    refuse_while_claimed();
    listen(std::move(function));
  }
  void clear_on_new_message_callback();

  // Publishers connected now, of all processes; 0 also when the middleware cannot tell.
  [[nodiscard]] std::size_t get_publisher_count() const noexcept;

  // True when take_loaned() can work: the type has a fixed size, the middleware lends, and the
  // options or ROS_DISABLE_LOANED_MESSAGES=0 allow it.
  [[nodiscard]] bool can_loan_messages() const noexcept;

  // The full name, after expansion and remapping.
  [[nodiscard]] std::string get_topic_name() const;

  // What the middleware granted. Throws RclError when it cannot tell.
  [[nodiscard]] QoS get_actual_qos() const;

  // "node.topic", with a number behind it where the node has several on the topic.
  [[nodiscard]] const std::string& get_name() const noexcept { return name_; }

  // Whether publishers of this context hand their messages over by pointer.
  [[nodiscard]] bool uses_intra_process() const noexcept { return uses_intra_process_; }

  // Messages that came by pointer and were dropped for newer ones, because the queue was full. What
  // the middleware drops, it does not tell.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;

  // For executors, from several threads; the callback never runs twice at once.
  // - deliver_pending(), before a reader runs, does not wait for the callback while a thread of
  //   another core is in it: the reader then has what was delivered before, and `sampled` is of
  //   that. The message in the callback, and those behind it, are left to the other thread and to
  //   the next delivery. A callback on its own core, which the reader has preempted, ends first.
  // - deliver_oldest() and deliver_newest(), of the subscription's own task, deliver one message,
  // the
  //   oldest or the newest that waits (older ones are dropped). They wait for a callback that is
  //   under way, on whatever core: for one execution of it, however many messages are pending.
  // Whoever waits lends its priority. Without a callback a delivery is the taking of a message, and
  // all wait for each other. Called from the callback, they deliver nothing. They throw what the
  // callback throws: its message is gone, those behind it wait.
  virtual executor::Delivered deliver_oldest() = 0;
  virtual executor::Delivered deliver_newest() = 0;
  [[nodiscard]] virtual bool has_callback() const noexcept = 0;

  // For executors: `owner` alone takes from now on, and `function` is called for messages that wait
  // and that arrive (may be empty; then they are remembered for the next one). Throws
  // std::logic_error when another one has claimed it; the same one may claim again, to be told
  // otherwise. Throws RclError.
  void claim(const void* owner, std::function<void(std::size_t)> function);
  void release(const void* owner) noexcept;

  // For wait sets.
  [[nodiscard]] const rcl_subscription_t& get_subscription_handle() const noexcept {
    return subscription_;
  }

 protected:
  SubscriptionBase(std::shared_ptr<detail::NodeHandle> node,
                   const rosidl_message_type_support_t* type_support, const std::string& topic,
                   const QoS& qos, const SubscriptionOptions& options);
  ~SubscriptionBase() override;

  // Call it first in the destructor of the derived class.
  void stop_listening() noexcept;

  [[nodiscard]] Status take_message(void* message, MessageInfo& info) noexcept;
  [[nodiscard]] Status take_loan(void*& message, MessageInfo& info) noexcept;

  // As take_message(), but asks the middleware only when it has announced a message: asking in vain
  // is not free. For those who listen.
  [[nodiscard]] bool take_announced(void* message, MessageInfo& info) noexcept;

  // Of whoever tells of messages from elsewhere and of those that come by pointer.
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
