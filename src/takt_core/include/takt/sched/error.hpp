// SPDX-License-Identifier: Apache-2.0
//
// What every refusal consists of (of a task set, a policy, a scenario, a document, a trace), so
// that whoever shows it (a log, Python, an editor) need not take a sentence apart. All of them come
// from set-up or from reading: nothing in a loop throws.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "takt/visibility.hpp"

namespace takt {

class TAKT_CORE_PUBLIC Error : public std::runtime_error {
 public:
  // `where`: the task, group, topic, scenario, policy or file, with its kind: "task 'radar.scan'".
  // `problem`: what is wrong. `remedy`: what the user can do, may be empty; both without a final
  // full stop. `path`: within a document the JSON pointer (RFC 6901) to `where`, else empty.
  Error(std::string where, std::string problem, std::string remedy, std::string path = {})
      : std::runtime_error(where + ": " + problem +
                           (remedy.empty() ? "." : ". Remedy: " + remedy + ".")),
        where_(std::move(where)),
        problem_(std::move(problem)),
        remedy_(std::move(remedy)),
        path_(std::move(path)) {}
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  Error(Error&&) = default;
  Error& operator=(Error&&) = default;
  ~Error() override;

  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string where_;
  std::string problem_;
  std::string remedy_;
  std::string path_;
};

}  // namespace takt

namespace takt::sched {

// Of a task set, a policy or a scenario, before the executor spins.
class TAKT_CORE_PUBLIC ScheduleError : public Error {
 public:
  using Error::Error;
};

}  // namespace takt::sched
