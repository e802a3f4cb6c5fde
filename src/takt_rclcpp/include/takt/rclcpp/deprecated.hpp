// SPDX-License-Identifier: Apache-2.0
/// @file
/// The former name of the namespace `takt_rclcpp`, `takt` with `rclcpp` in it, for one release.
/// Each use of it is a warning. Include this header besides those whose names are used:
///
/// ```cpp
/// #include <takt/rclcpp/deprecated.hpp>
/// #include <takt/rclcpp/scheduling_executor.hpp>
///
/// takt::rclcpp::SchedulingExecutor executor;  // warns: it is takt_rclcpp::SchedulingExecutor
/// ```
///
/// Code in namespace takt that includes it has to write rclcpp's names with two colons in front.
#pragma once

#include <cstdint>

namespace takt_rclcpp {

enum class CallbackKind : std::uint8_t;
struct CallbackId;
class Diagnostics;
struct DiagnosticsOptions;
struct Options;
class SchedulingExecutor;
struct Timing;
struct TimingFile;
struct Unmatched;

}  // namespace takt_rclcpp

namespace takt {

/// The former name of takt_rclcpp. It goes with the next release.
namespace [[deprecated("the namespace takt::rclcpp is called takt_rclcpp")]] rclcpp {

using namespace ::takt_rclcpp;

// GCC warns of a namespace where it is used for a function, but not where it is used for a type.
#define TAKT_FORMER(name)                                                              \
  using name [[deprecated("takt::rclcpp::" #name " is called takt_rclcpp::" #name)]] = \
      ::takt_rclcpp::name
TAKT_FORMER(CallbackId);          ///< Is called takt_rclcpp::CallbackId.
TAKT_FORMER(CallbackKind);        ///< Is called takt_rclcpp::CallbackKind.
TAKT_FORMER(Diagnostics);         ///< Is called takt_rclcpp::Diagnostics.
TAKT_FORMER(DiagnosticsOptions);  ///< Is called takt_rclcpp::DiagnosticsOptions.
TAKT_FORMER(Options);             ///< Is called takt_rclcpp::Options.
TAKT_FORMER(SchedulingExecutor);  ///< Is called takt_rclcpp::SchedulingExecutor.
TAKT_FORMER(Timing);              ///< Is called takt_rclcpp::Timing.
TAKT_FORMER(TimingFile);          ///< Is called takt_rclcpp::TimingFile.
TAKT_FORMER(Unmatched);           ///< Is called takt_rclcpp::Unmatched.
#undef TAKT_FORMER

}  // namespace rclcpp

}  // namespace takt
