// SPDX-License-Identifier: Apache-2.0
//
// QoS: how a topic is transported. Starts reliable, volatile, KEEP_LAST, as in rclcpp, and has only
// the settings that matter for timing; KEEP_ALL is left out because its memory has no bound.
#pragma once

#include <rmw/types.h>

#include <cstddef>
#include <takt/rcl/visibility.hpp>

namespace takt {

class TAKT_RCL_PUBLIC QoS {
 public:
  // Keeps the last `depth` messages. Throws std::invalid_argument when depth is 0.
  explicit QoS(std::size_t depth);

  // The profile that an entity really got, as the middleware reports it.
  explicit QoS(const rmw_qos_profile_t& profile) noexcept : profile_{profile} {}

  // Throws std::invalid_argument when depth is 0.
  QoS& keep_last(std::size_t depth);

  // Lost packets are sent again; a full history makes the publisher wait.
  QoS& reliable() noexcept;
  // Lost packets stay lost.
  QoS& best_effort() noexcept;

  // A subscription that comes late gets what the publisher still keeps.
  QoS& transient_local() noexcept;
  // A subscription gets what is published while it is connected.
  QoS& durability_volatile() noexcept;

  [[nodiscard]] std::size_t depth() const noexcept { return profile_.depth; }
  [[nodiscard]] rmw_qos_reliability_policy_t reliability() const noexcept {
    return profile_.reliability;
  }
  [[nodiscard]] rmw_qos_durability_policy_t durability() const noexcept {
    return profile_.durability;
  }
  [[nodiscard]] const rmw_qos_profile_t& get_rmw_qos_profile() const noexcept { return profile_; }

 private:
  rmw_qos_profile_t profile_;
};

}  // namespace takt
