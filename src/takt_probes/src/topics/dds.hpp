// SPDX-License-Identifier: Apache-2.0
//
// What a probe on DDS itself does as ROS 2 does it, so that it can talk to one on rcl.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "takt/probe/failure.hpp"

namespace takt::probe {

inline constexpr std::uint32_t most_domain = 232;  // of what UDP's ports leave room for

/// The domain of ROS_DOMAIN_ID; 0 without it, as in ROS 2. Throws Failure.
inline std::uint32_t dds_domain() {
  const char* const given = std::getenv("ROS_DOMAIN_ID");
  const std::string_view text{given == nullptr || *given == '\0' ? "0" : given};
  std::uint32_t domain = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), domain);
  if (error != std::errc{} || end != text.data() + text.size() || domain > most_domain) {
    throw Failure{{.what = "there is no domain to meet in",
                   .why = "ROS_DOMAIN_ID is '" + std::string{text} + "'",
                   .fix = "give a number from 0 to " + std::to_string(most_domain)}};
  }
  return domain;
}

/// The name that a topic of ROS 2 has in DDS.
inline std::string dds_topic(const std::string& topic) {
  return (topic.starts_with('/') ? "rt" : "rt/") + topic;
}

}  // namespace takt::probe
