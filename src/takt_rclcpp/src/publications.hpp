// SPDX-License-Identifier: Apache-2.0
//
// Which callback publishes and takes which message, for traces and chains with limits: nobody
// declares that of rclcpp's nodes. They tell every publication and every take to ROS 2's
// tracepoints, whether or not anybody traces; publications.cpp stands before those and passes them
// on. A message is known by what the middleware stamps on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
  // A message of a topic, as a trace knows it.
  struct Numbered {
    std::uint16_t topic = 0;
    std::int64_t count = 0;
  };
  // Of the job that the calling thread runs. Nothing: no memory for a name.
  std::optional<Numbered> record(const char* topic) noexcept;
  // The message has this stamp.
  void stamped(std::int64_t stamp, Numbered message) noexcept;
  // The job uses the message with this stamp; no effect where that is not known any more.
  void use(std::int64_t stamp) noexcept;

 private:
  struct Stamped {
    std::int64_t stamp = 0;
    Numbered message;
  };
  static constexpr std::size_t remembered = 4096;  // messages of all topics

  const executor::Executor& core_;
  executor::PriorityMutex mutex_;
  std::map<std::string, Numbered, std::less<>> topics_;
  std::array<Stamped, remembered> stamped_{};  // by the remainder of the stamp
};

// The stamp of the message that the calling thread has taken last; nothing: none since it was asked
// before.
[[nodiscard]] std::optional<std::int64_t> stamp_taken() noexcept;

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
