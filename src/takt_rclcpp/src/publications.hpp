// SPDX-License-Identifier: Apache-2.0
//
// Which callback publishes on which topic, for traces: nobody declares that of rclcpp's nodes. They
// tell every publication to ROS 2's tracepoints, whether or not anybody traces; publications.cpp
// stands before those and passes them on.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core_names.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/mutex.hpp"

namespace takt_rclcpp {

class Publications {
 public:
  explicit Publications(const executor::Executor& core) : core_{core} {}

  // For another trace: names are told anew.
  void forget() noexcept;
  // Of the job that the calling thread runs.
  void record(const char* topic) noexcept;

 private:
  struct Topic {
    std::uint16_t number = 0;
    std::int64_t count = 0;
  };

  const executor::Executor& core_;
  executor::PriorityMutex mutex_;
  std::map<std::string, Topic, std::less<>> topics_;
};

// While it lives, what the calling thread publishes is recorded there; null: nowhere. Nests.
class RecordsPublications {
 public:
  explicit RecordsPublications(Publications* where) noexcept;
  ~RecordsPublications();
  RecordsPublications(const RecordsPublications&) = delete;
  RecordsPublications& operator=(const RecordsPublications&) = delete;
  RecordsPublications(RecordsPublications&&) = delete;
  RecordsPublications& operator=(RecordsPublications&&) = delete;

 private:
  Publications* const outer_;
};

}  // namespace takt_rclcpp
