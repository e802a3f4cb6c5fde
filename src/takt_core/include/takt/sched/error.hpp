// SPDX-License-Identifier: Apache-2.0
//
// What every refusal of a task set, a policy or a scenario looks like. All of them come before the
// executor spins: nothing in the loop throws.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace takt::sched {

class ScheduleError : public std::runtime_error {
 public:
  // `where`: the task, group, topic, scenario or policy, with its kind: "task 'radar.scan'".
  // `problem`: what is wrong. `remedy`: what the user can do; both without a final full stop.
  ScheduleError(std::string where, std::string problem, std::string remedy)
      : std::runtime_error(where + ": " + problem + ". Remedy: " + remedy + "."),
        where_(std::move(where)),
        problem_(std::move(problem)),
        remedy_(std::move(remedy)) {}

  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  std::string where_;
  std::string problem_;
  std::string remedy_;
};

}  // namespace takt::sched
