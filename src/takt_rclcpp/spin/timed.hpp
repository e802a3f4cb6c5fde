// SPDX-License-Identifier: Apache-2.0
//
// How Takt's executor schedules the nodes of a stock one: by the timing file of the user, and
// without one by what the stock one promises.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt_rclcpp::spin {

struct Timed {
  TimingFile file = {};
  Options options = {};
  /// The callbacks that the file was asked for.
  std::shared_ptr<std::vector<CallbackId>> met = std::make_shared<std::vector<CallbackId>>();

  /// "np-fp, core 1, one callback at a time".
  [[nodiscard]] std::string in_words() const;
  /// "core 1", "cores 0 1".
  [[nodiscard]] std::string cores() const;
  /// Entries of the file that matched none of its callbacks go to the report.
  void report_unmatched() const;
};

/// @param threads of the stock executor.
/// @param ordinal of the executor in its process: executors begin on different cores.
/// @throws takt::sched::ScheduleError for a timing file that cannot be read or is wrong.
Timed timed(std::size_t threads, std::size_t ordinal);

}  // namespace takt_rclcpp::spin
