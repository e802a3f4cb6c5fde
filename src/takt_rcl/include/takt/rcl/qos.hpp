// SPDX-License-Identifier: Apache-2.0
/// @file
/// QoS: how a topic is transported. The defaults are those of rclcpp: reliable, volatile,
/// KEEP_LAST. Only settings that matter for timing exist; KEEP_ALL is missing because its memory
/// has no bound.
#pragma once

#include <rmw/types.h>

#include <cstddef>
#include <takt/rcl/visibility.hpp>

namespace takt {

/// A QoS profile, built by chained calls: QoS{1}.best_effort().
class TAKT_RCL_PUBLIC QoS {
 public:
  /// Keeps the last `depth` messages.
  /// @throws std::invalid_argument if depth is 0.
  explicit QoS(std::size_t depth);

  /// The profile that an entity was granted, as the middleware reports it.
  explicit QoS(const rmw_qos_profile_t& profile) noexcept : profile_{profile} {}

  /// Keeps the last `depth` messages.
  /// @throws std::invalid_argument if depth is 0.
  QoS& keep_last(std::size_t depth);

  /// Lost packets are sent again; a full history blocks the publisher.
  QoS& reliable() noexcept;

  /// Lost packets stay lost; publishing does not block for acknowledgements.
  QoS& best_effort() noexcept;

  /// A late subscription gets the messages that the publisher still keeps.
  QoS& transient_local() noexcept;

  /// A subscription gets the messages that are published while it is connected.
  QoS& durability_volatile() noexcept;

  /// Messages that the history keeps.
  [[nodiscard]] std::size_t depth() const noexcept { return profile_.depth; }

  /// Reliable or best effort.
  [[nodiscard]] rmw_qos_reliability_policy_t reliability() const noexcept {
    return profile_.reliability;
  }

  /// Volatile or transient local.
  [[nodiscard]] rmw_qos_durability_policy_t durability() const noexcept {
    return profile_.durability;
  }

  /// The profile for rcl.
  [[nodiscard]] const rmw_qos_profile_t& get_rmw_qos_profile() const noexcept { return profile_; }

 private:
  rmw_qos_profile_t profile_;
};

}  // namespace takt
