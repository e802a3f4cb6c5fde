// SPDX-License-Identifier: Apache-2.0
//
// The age of what callbacks of a robot read (max_age), where it comes from other processes: each
// way of the data from a timer to the reader is a chain, and the age of data at the end of the
// chain is at least that at which the reader began. What a process proves of the data that its own
// timers sample, it proves itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/analysis/report.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

class RobotReads {
 public:
  // Of a robot as described. Adds the chains to it.
  explicit RobotReads(application::Application& robot);

  // Moves the chains out of these, which are those of the robot, and completes what processes say
  // of the ages.
  void complete(std::vector<ChainReport>& chains, std::vector<AgeReport>& ages) const;

 private:
  struct Limited {
    AgeReport report;                 // without a bound
    std::vector<std::size_t> chains;  // of the robot
    bool known = true;                // these are all ways of the data
  };
  class Ways;

  std::size_t described_;  // chains
  std::vector<Limited> reads_;
};

}  // namespace takt::analysis
