// SPDX-License-Identifier: Apache-2.0
/// @file
/// Subscription: receives messages of one type from one topic. Created by
/// Node::create_subscription().
///
/// Messages wait until they are taken: those of publishers of the same context by pointer in a
/// queue of the QoS's depth, all others in the history of the middleware. Either an executor
/// delivers them, to the callback or into latest(), or the program takes them itself after
/// set_on_new_message_callback() has announced them, so no wait set is needed. Messages of
/// different publishers have no order among each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <takt/executor/monitor.hpp>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/delivery_turn.hpp>
#include <takt/rcl/local_channel.hpp>
#include <takt/rcl/message_callback.hpp>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/received_loan.hpp>
#include <takt/rcl/sample_time.hpp>
#include <takt/rcl/subscription_base.hpp>
#include <utility>

namespace takt {

/// A subscription to messages of type MessageT. Only one thread at a time may take messages from it
/// and set its callback; different subscriptions are independent.
template <class MessageT>
class Subscription final : public SubscriptionBase {
 public:
  /// Use Node::create_subscription().
  /// @throws RclError if the subscription cannot be created.
  Subscription(std::shared_ptr<detail::NodeHandle> node, const std::string& topic, const QoS& qos,
               const SubscriptionOptions& options, MessageCallback<MessageT> callback = {})
      : SubscriptionBase{std::move(node),
                         rosidl_typesupport_cpp::get_message_type_support_handle<MessageT>(), topic,
                         qos, options},
        callback_{std::move(callback)},
        depth_{std::max<std::size_t>(qos.depth(), 1)} {
    constexpr std::size_t own_messages = 3;  // in hand, latest, and one that a user still reads
    pool_.grow(own_messages);
    if (!uses_intra_process()) {
      return;
    }
    channel_ = detail::find_channel<MessageT>(*node_, get_topic_name());
    queue_ =
        std::make_shared<Queue>(depth_, qos.reliability() == RMW_QOS_POLICY_RELIABILITY_RELIABLE,
                                callback_.owning(), turn());
    channel_->add(queue_);
  }
  ~Subscription() override {
    if (queue_) {
      channel_->remove(queue_);
    }
    stop_listening();
  }
  Subscription(const Subscription&) = delete;
  Subscription& operator=(const Subscription&) = delete;
  Subscription(Subscription&&) = delete;
  Subscription& operator=(Subscription&&) = delete;

  /// The newest delivered message, null before the first one. For subscriptions without a callback
  /// to which an executor delivers; from any thread.
  [[nodiscard]] std::shared_ptr<const MessageT> latest() const noexcept {
    const std::lock_guard lock{latest_mutex_};
    return latest_;
  }

  /// Takes the oldest waiting message, without waiting for one. The sequences of a reused `message`
  /// keep their capacity.
  /// @param message written on success; undefined after a failure.
  /// @param info written on success.
  /// @return false if nothing was taken, see Status::nothing_taken() and Status::failed().
  [[nodiscard]] Status take(MessageT& message, MessageInfo& info) noexcept {
    Parcel parcel;
    if (queue_ && queue_->pop(parcel)) {
      message = parcel.message();
      info = parcel.info;
      return Status{};
    }
    return take_message(&message, info);
  }

  /// Takes a message without a copy if can_loan_messages() is true. Returns the former content of
  /// `loan` first.
  /// @return RCL_RET_UNSUPPORTED if loans are not possible.
  [[nodiscard]] Status take_loaned(ReceivedLoan<MessageT>& loan, MessageInfo& info) noexcept {
    loan.give_back();
    void* message = nullptr;
    const Status status = take_loan(message, info);
    if (status) {
      loan = {shared_from_this(), static_cast<MessageT*>(message)};
    }
    return status;
  }

  executor::Delivered deliver_pending() override {
    executor::Delivered delivered;
    detail::DeliveryTurnScope turn{turn_, take_turn_to_read()};
    // Each source holds `depth` messages at most; what comes meanwhile waits for the next time.
    for (std::size_t i = 0; turn.is_mine() && i < 2 * depth_; ++i) {
      Parcel parcel;
      if (!next(parcel)) {
        break;
      }
      accept(std::move(parcel));
      ++delivered.count;
      if (turn_.awaited()) {  // for one callback, not for all of these
        turn.give_back();
        turn.taken_again(take_turn_to_read());
      }
    }
    turn.give_back();
    delivered.sampled = sampled();
    delivered.message = of_count(key_);
    return delivered;
  }

  executor::Delivered deliver_oldest() override {
    return deliver_one([this](Parcel& parcel) { return next(parcel); });
  }

  executor::Delivered deliver_newest() override {
    return deliver_one([this](Parcel& newest) {
      std::size_t found = 0;
      for (Parcel parcel; found < 2 * depth_ && next(parcel); ++found) {
        newest = std::move(parcel);
      }
      return found > 0;
    });
  }

  [[nodiscard]] bool has_callback() const noexcept override { return static_cast<bool>(callback_); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override {
    return queue_ ? queue_->dropped() : 0;
  }

 protected:
  [[nodiscard]] detail::Notice* local_notice() noexcept override {
    return queue_ ? &queue_->notice : nullptr;
  }

 private:
  using Queue = detail::LocalQueue<MessageT>;
  using Parcel = detail::Parcel<MessageT>;

  // A reader of latest() waits while another thread takes a message, which is short.
  [[nodiscard]] bool take_turn_to_read() noexcept {
    return callback_ ? turn_.take_unless_elsewhere() : turn_.take();
  }

  template <class Find>
  executor::Delivered deliver_one(Find find) {
    executor::Delivered delivered;
    const detail::DeliveryTurnScope turn{turn_, turn_.take()};
    Parcel parcel;
    if (turn.is_mine() && find(parcel)) {
      accept(std::move(parcel));
      delivered.count = 1;
    }
    delivered.sampled = sampled();  // constant until the turn is given back
    delivered.message = of_count(key_);
    return delivered;
  }

  // The next message of either source; a callback that does not own its message gets reused memory.
  [[nodiscard]] bool next(Parcel& parcel) noexcept {
    if (queue_ && queue_->pop(parcel)) {
      return true;
    }
    if (callback_.owning()) {
      if (!spare_) {
        spare_ = std::make_unique<MessageT>();
      }
      if (!take_announced(spare_.get(), parcel.info)) {
        return false;
      }
      parcel.owned = std::move(spare_);
    } else {
      if (!in_hand_) {
        in_hand_ = pool_.get();
      }
      if (!take_announced(in_hand_.get(), parcel.info)) {
        return false;
      }
      parcel.shared = std::move(in_hand_);
    }
    parcel.sampled = detail::sample_time_of(parcel.info);
    parcel.key = parcel.info.source_timestamp.time_since_epoch().count();
    return true;
  }

  void accept(Parcel parcel) {
    const os::TimePoint sampled = parcel.sampled;
    const std::optional<std::int64_t> key = parcel.key;
    if (callback_) {
      if (key) {
        executor::use_message(*key);
      }
      const detail::SampleTimeScope scope{sampled};
      callback_(std::move(parcel.owned), std::move(parcel.shared), parcel.info);
    } else {
      const std::lock_guard lock{latest_mutex_};
      latest_.swap(parcel.shared);
    }
    key_.store(key.value_or(never), std::memory_order_relaxed);
    sampled_.store(sampled.time_since_epoch().count(), std::memory_order_release);
  }

  // Of the newest message whose delivery is complete.
  [[nodiscard]] std::optional<os::TimePoint> sampled() const noexcept {
    const auto count = of_count(sampled_);
    return count ? std::optional{os::TimePoint{std::chrono::nanoseconds{*count}}} : std::nullopt;
  }

  [[nodiscard]] static std::optional<std::int64_t> of_count(
      const std::atomic<std::int64_t>& from) noexcept {
    const std::int64_t count = from.load(std::memory_order_acquire);
    return count == never ? std::nullopt : std::optional{count};
  }

  MessageCallback<MessageT> callback_;
  std::size_t depth_;
  std::shared_ptr<detail::LocalChannel<MessageT>> channel_;
  std::shared_ptr<Queue> queue_;
  detail::DeliveryTurn turn_;  ///< guards the three members below it and the callback
  detail::MessagePool<MessageT> pool_;
  std::unique_ptr<MessageT> spare_;
  std::shared_ptr<MessageT> in_hand_;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> sampled_{never};
  std::atomic<std::int64_t> key_{never};  // of the same message
  mutable executor::PriorityMutex latest_mutex_;
  std::shared_ptr<const MessageT> latest_;
};

}  // namespace takt
