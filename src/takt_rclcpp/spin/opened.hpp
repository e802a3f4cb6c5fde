// SPDX-License-Identifier: Apache-2.0
//
// The next function of a name behind this library, and the library that takes over.
#pragma once

namespace takt_rclcpp {
class Takeover;
}

namespace takt_rclcpp::spin {

/// rclcpp's own function of this name in the process; ends the process, with a message, where there
/// is none: nothing could be called.
void* find_next(const char* name);

/// rclcpp's own function, found at the first call.
template <class Signature>
class Next;
template <class Result, class... Arguments>
class Next<Result(Arguments...)> {
 public:
  explicit Next(const char* name)
      : function_{reinterpret_cast<Result (*)(Arguments...)>(find_next(name))} {}
  Result operator()(Arguments... arguments) const {
    return function_(static_cast<Arguments>(arguments)...);
  }
  [[nodiscard]] const void* address() const { return reinterpret_cast<const void*>(function_); }

 private:
  Result (*function_)(Arguments...);
};

/// What takes over; opened at the first call. Null where it cannot: that has been said, with the
/// reason and what to do.
/// @param function of rclcpp, which tells the library that the program uses.
Takeover* takeover(const void* function);

}  // namespace takt_rclcpp::spin
