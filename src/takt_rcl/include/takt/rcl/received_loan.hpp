// SPDX-License-Identifier: Apache-2.0
/// @file
/// ReceivedLoan: a message that was taken without a copy, in memory of the middleware. The memory
/// is returned at the end of this object; until then the publisher lacks its slot, so do not keep
/// it.
#pragma once

#include <memory>
#include <takt/rcl/subscription_base.hpp>
#include <utility>

namespace takt {

/// A loan for reading. Keeps its subscription alive. For one thread at a time.
template <class MessageT>
class ReceivedLoan {
 public:
  ReceivedLoan() noexcept = default;

  /// Takes over the loan; `other` becomes invalid.
  ReceivedLoan(ReceivedLoan&& other) noexcept
      : subscription_{std::move(other.subscription_)},
        message_{std::exchange(other.message_, nullptr)} {}

  /// Returns the present loan, and takes over that of `other`.
  ReceivedLoan& operator=(ReceivedLoan&& other) noexcept {
    if (this != &other) {
      give_back();
      subscription_ = std::move(other.subscription_);
      message_ = std::exchange(other.message_, nullptr);
    }
    return *this;
  }
  ReceivedLoan(const ReceivedLoan&) = delete;
  ReceivedLoan& operator=(const ReceivedLoan&) = delete;

  /// Returns the memory.
  ~ReceivedLoan() { give_back(); }

  /// False if nothing was taken, or after a move or give_back(). Must be true for get().
  [[nodiscard]] bool is_valid() const noexcept { return message_ != nullptr; }

  /// The message.
  [[nodiscard]] const MessageT& get() const noexcept { return *message_; }

  /// Returns the memory now; get() must not be used afterwards.
  void give_back() noexcept {
    if (message_ != nullptr) {
      subscription_->return_loan(std::exchange(message_, nullptr));
    }
  }

 private:
  template <class>
  friend class Subscription;
  ReceivedLoan(std::shared_ptr<SubscriptionBase> subscription, MessageT* message) noexcept
      : subscription_{std::move(subscription)}, message_{message} {}

  std::shared_ptr<SubscriptionBase> subscription_;
  MessageT* message_{nullptr};
};

}  // namespace takt
