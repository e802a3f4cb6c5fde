// SPDX-License-Identifier: Apache-2.0
/// @file
/// MessageCallback: the function that a subscription calls with each message, in one of the most
/// used forms of rclcpp, each also with the MessageInfo as a second argument:
///
/// ```text
/// void(const MessageT&)                  no copy and no allocation
/// void(std::shared_ptr<const MessageT>)  to keep the message; other readers may share it
/// void(std::unique_ptr<MessageT>)        to own it; allocated, unless a publisher of the same
///                                        context passed a unique_ptr to this reader only
/// ```
#pragma once

#include <functional>
#include <memory>
#include <takt/rcl/message_info.hpp>
#include <type_traits>
#include <utility>
#include <variant>

namespace takt {

/// A function in one of the forms above, or none.
template <class MessageT>
class MessageCallback {
 public:
  MessageCallback() = default;

  /// Stores a function of any of the forms; a static_assert names them if none fits.
  template <class Function>
  explicit MessageCallback(Function function) {
    // In this order: a function of shared_ptr can be called with a unique_ptr too, and one of
    // anything shall get the reference.
    if constexpr (callable<Function, const MessageT&>) {
      function_ = with_info<const MessageT&>(std::move(function));
    } else if constexpr (callable<Function, std::shared_ptr<const MessageT>>) {
      function_ = with_info<std::shared_ptr<const MessageT>>(std::move(function));
    } else {
      static_assert(callable<Function, std::unique_ptr<MessageT>>,
                    "the callback of a subscription takes const MessageT&, "
                    "std::shared_ptr<const MessageT> or std::unique_ptr<MessageT>, and may take "
                    "const takt::MessageInfo& besides");
      function_ = with_info<std::unique_ptr<MessageT>>(std::move(function));
    }
  }

  /// Whether it has a function.
  [[nodiscard]] explicit operator bool() const noexcept { return function_.index() != 0; }

  /// Whether the function takes unique_ptr.
  [[nodiscard]] bool owning() const noexcept {
    return std::holds_alternative<Form<std::unique_ptr<MessageT>>>(function_);
  }

  /// Calls the function with the message in the form that it requires. Exactly one of the two
  /// pointers must be set. Throws what the function throws.
  void operator()(std::unique_ptr<MessageT> owned, std::shared_ptr<const MessageT> shared,
                  const MessageInfo& info) const {
    if (const auto* by_reference = std::get_if<Form<const MessageT&>>(&function_)) {
      (*by_reference)(owned ? *owned : *shared, info);
    } else if (const auto* by_shared =
                   std::get_if<Form<std::shared_ptr<const MessageT>>>(&function_)) {
      (*by_shared)(owned ? std::shared_ptr<const MessageT>{std::move(owned)} : std::move(shared),
                   info);
    } else if (const auto* by_unique = std::get_if<Form<std::unique_ptr<MessageT>>>(&function_)) {
      (*by_unique)(owned ? std::move(owned) : std::make_unique<MessageT>(*shared), info);
    }
  }

 private:
  template <class Argument>
  using Form = std::function<void(Argument, const MessageInfo&)>;

  template <class Function, class Argument>
  static constexpr bool callable = std::is_invocable_v<Function&, Argument> ||
                                   std::is_invocable_v<Function&, Argument, const MessageInfo&>;

  template <class Argument, class Function>
  static Form<Argument> with_info(Function function) {
    if constexpr (std::is_invocable_v<Function&, Argument, const MessageInfo&>) {
      return function;
    } else {
      return [function = std::move(function)](Argument message, const MessageInfo&) mutable {
        function(std::forward<Argument>(message));
      };
    }
  }

  std::variant<std::monostate, Form<const MessageT&>, Form<std::shared_ptr<const MessageT>>,
               Form<std::unique_ptr<MessageT>>>
      function_;
};

}  // namespace takt
