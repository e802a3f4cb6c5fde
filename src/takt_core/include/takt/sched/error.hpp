// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of every refusal (of a task set, policy, scenario, document or trace), so that a log,
/// Python or an editor can show them without taking a sentence apart. All refusals come from set-up
/// or from reading files: nothing in a real-time loop throws.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "takt/visibility.hpp"

namespace takt {

/// A refusal. what() reads "<where>: <problem>. Fix: <fix>."
class TAKT_CORE_PUBLIC Error : public std::runtime_error {
 public:
  /// @param where the task, group, topic, scenario, policy or file, with its kind: "task
  /// 'radar.scan'".
  /// @param problem what is wrong, without a final full stop.
  /// @param fix what the user can do, without a final full stop; may be empty.
  /// @param path within a document the JSON pointer (RFC 6901) to `where`, else empty.
  Error(std::string where, std::string problem, std::string fix, std::string path = {})
      : std::runtime_error(where + ": " + problem + (fix.empty() ? "." : ". Fix: " + fix + ".")),
        where_(std::move(where)),
        problem_(std::move(problem)),
        fix_(std::move(fix)),
        path_(std::move(path)) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  Error(Error&&) = default;
  Error& operator=(Error&&) = default;
  ~Error() override;

  /// The entity that is wrong, with its kind.
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

  /// What is wrong.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// What the user can do; may be empty.
  [[nodiscard]] const std::string& fix() const noexcept { return fix_; }

  /// JSON pointer (RFC 6901) into the document; may be empty.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string where_;
  std::string problem_;
  std::string fix_;
  std::string path_;
};

}  // namespace takt

namespace takt::sched {

/// A task set, policy or scenario is refused, before the executor spins.
class TAKT_CORE_PUBLIC ScheduleError : public Error {
 public:
  using Error::Error;
  ScheduleError(const ScheduleError&) = default;
  ScheduleError& operator=(const ScheduleError&) = default;
  ScheduleError(ScheduleError&&) = default;
  ScheduleError& operator=(ScheduleError&&) = default;
  ~ScheduleError() override;
};

}  // namespace takt::sched
