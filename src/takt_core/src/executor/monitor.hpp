// SPDX-License-Identifier: Apache-2.0
//
// The limits of an executor, by the names of callbacks and chains.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "watched.hpp"

namespace takt::executor {

class Monitor {
 public:
  // Throws sched::ScheduleError for limits that mean nothing.
  explicit Monitor(const Limits& limits);

  // Throws sched::ScheduleError if a callback is no task's, unless the limits allow that.
  void check_names(const std::map<std::string, TaskIndex, std::less<>>& tasks) const;
  // Null: it has no limits.
  [[nodiscard]] Watched* find(std::string_view callback) noexcept;
  // Callbacks in the order of their names, then chains.
  [[nodiscard]] std::vector<LimitStatistics> statistics() const;

 private:
  [[nodiscard]] Watched& of(const std::string& callback);
  void add(const CallbackLimits& limits);
  void add(const ReadLimits& limits);
  void add(const ChainLimits& limits);

  std::map<std::string, Watched, std::less<>> callbacks_;
  std::deque<WatchedChain> chains_;
  bool allow_absent_tasks_;
};

}  // namespace takt::executor
