// SPDX-License-Identifier: Apache-2.0
//
// LoanedMessage: a message in memory of the middleware, written in place and published without a
// copy. Comes from Publisher::borrow_loaned_message(); one that is not published goes back.
#pragma once

#include <memory>
#include <takt/rcl/publisher_base.hpp>
#include <utility>

namespace takt {

// The memory is not initialised and may still hold an older message: write every field that a
// reader uses. Keeps its publisher alive. For one thread at a time.
template <class MessageT>
class LoanedMessage {
 public:
  LoanedMessage() noexcept = default;
  LoanedMessage(LoanedMessage&& other) noexcept
      : publisher_{std::move(other.publisher_)}, message_{std::exchange(other.message_, nullptr)} {}
  LoanedMessage& operator=(LoanedMessage&& other) noexcept {
    if (this != &other) {
      give_back();
      publisher_ = std::move(other.publisher_);
      message_ = std::exchange(other.message_, nullptr);
    }
    return *this;
  }
  LoanedMessage(const LoanedMessage&) = delete;
  LoanedMessage& operator=(const LoanedMessage&) = delete;
  ~LoanedMessage() { give_back(); }

  // False: nothing was lent, or it was moved from or published. Must be true to use get().
  [[nodiscard]] bool is_valid() const noexcept { return message_ != nullptr; }
  [[nodiscard]] MessageT& get() const noexcept { return *message_; }

 private:
  template <class>
  friend class Publisher;
  LoanedMessage(std::shared_ptr<PublisherBase> publisher, MessageT* message) noexcept
      : publisher_{std::move(publisher)}, message_{message} {}

  [[nodiscard]] bool belongs_to(const PublisherBase& publisher) const noexcept {
    return publisher_.get() == &publisher;
  }
  [[nodiscard]] MessageT* release() noexcept { return std::exchange(message_, nullptr); }

  void give_back() noexcept {
    if (message_ != nullptr) {
      publisher_->return_loan(std::exchange(message_, nullptr));
    }
  }

  std::shared_ptr<PublisherBase> publisher_;
  MessageT* message_{nullptr};
};

}  // namespace takt
