// SPDX-License-Identifier: Apache-2.0
/// @file
/// LoanedMessage: a message in memory of the middleware, written in place and published without a
/// copy. Publisher::borrow_loaned_message() creates it; a message that is not published is returned
/// to the middleware.
#pragma once

#include <memory>
#include <takt/rcl/publisher_base.hpp>
#include <utility>

namespace takt {

/// A loan for writing. The memory is not initialised and may still contain an older message: write
/// every field that a reader uses. Keeps its publisher alive. For one thread at a time.
template <class MessageT>
class LoanedMessage {
 public:
  LoanedMessage() noexcept = default;

  /// Takes over the loan; `other` becomes invalid.
  LoanedMessage(LoanedMessage&& other) noexcept
      : publisher_{std::move(other.publisher_)}, message_{std::exchange(other.message_, nullptr)} {}

  /// Returns the present loan, and takes over that of `other`.
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

  /// Returns the memory to the middleware unless the message was published.
  ~LoanedMessage() { give_back(); }

  /// False if nothing was lent, or after a move or a publication. Must be true for get().
  [[nodiscard]] bool is_valid() const noexcept { return message_ != nullptr; }

  /// The message to write.
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
