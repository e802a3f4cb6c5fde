// SPDX-License-Identifier: Apache-2.0
#include <rmw/qos_profiles.h>

#include <stdexcept>
#include <takt/rcl/qos.hpp>

namespace takt {

QoS::QoS(std::size_t depth) : profile_{rmw_qos_profile_default} {
  reliable().durability_volatile().keep_last(depth);
}

QoS& QoS::keep_last(std::size_t depth) {
  if (depth == 0) {
    throw std::invalid_argument{"QoS: the depth of KEEP_LAST is 0; give at least 1"};
  }
  profile_.history = RMW_QOS_POLICY_HISTORY_KEEP_LAST;
  profile_.depth = depth;
  return *this;
}

QoS& QoS::reliable() noexcept {
  profile_.reliability = RMW_QOS_POLICY_RELIABILITY_RELIABLE;
  return *this;
}

QoS& QoS::best_effort() noexcept {
  profile_.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  return *this;
}

QoS& QoS::transient_local() noexcept {
  profile_.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  return *this;
}

QoS& QoS::durability_volatile() noexcept {
  profile_.durability = RMW_QOS_POLICY_DURABILITY_VOLATILE;
  return *this;
}

}  // namespace takt
