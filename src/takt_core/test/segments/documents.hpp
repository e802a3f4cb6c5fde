// SPDX-License-Identifier: Apache-2.0
//
// Applications whose callbacks have segments, as the core parses them; 1 tick is 1 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/waiting_runs.hpp"

namespace takt::analysis {

// Whether a segment computes.
constexpr bool computes(std::size_t segment) {
  return segment % 2 == 0;
}

// The longest times of computing, or of waiting.
inline std::int64_t longest(const std::vector<TickSegment>& segments, bool computing) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    sum += computes(i) == computing ? segments[i].longest : 0;
  }
  return sum;
}

inline std::string flat(const std::vector<TickSegment>& segments) {
  std::string text;
  for (const TickSegment& segment : segments) {
    text += (text.empty() ? "" : ",") + std::string{"{\"shortest\":"} +
            std::to_string(segment.shortest) + ",\"longest\":" + std::to_string(segment.longest) +
            "}";
  }
  return text;
}

// With what follows from its segments.
inline std::string segmented(const std::string& name, std::int64_t period, int priority,
                             const std::vector<TickSegment>& segments,
                             const std::string& more = "") {
  std::int64_t best = 0;
  for (std::size_t i = 0; i < segments.size(); i += 2) {
    best += segments[i].shortest;
  }
  const std::string worst = std::to_string(longest(segments, true));
  return R"({"name":")" + name + R"(","period":)" + std::to_string(period) + R"(,"priority":)" +
         std::to_string(priority) + R"(,"execution":{"best":)" + std::to_string(best) +
         R"(,"worst":)" + worst + R"(,"quantiles":[)" + std::to_string(best) + "," + worst +
         R"(]},"suspension":)" + std::to_string(longest(segments, false)) + R"(,"suspensions":)" +
         std::to_string(segments.size() / 2) + R"(,"segments":[)" + flat(segments) + "]" + more +
         "}";
}

inline std::string document(const std::string& callbacks, const std::string& more = "") {
  return R"({"version":1,"name":"s","policy":"fp","cpus":[0],"callbacks":[)" + callbacks + "]" +
         more + "}";
}

}  // namespace takt::analysis
