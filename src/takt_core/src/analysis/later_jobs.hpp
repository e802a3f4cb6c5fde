// SPDX-License-Identifier: Apache-2.0
//
// What comes after the jobs of a path because jobs of one callback run in the order of their
// releases: those of later messages of a burst, and of later releases of the path's root
// (docs/reference/analysis.md, eq. 37).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

class LaterJobs {
 public:
  // Of links 0 to `count` - 1, each with a smaller index than what it releases; `path` from a root
  // on. Messages of one job to one callback come in the order of their links.
  template <class Before, class Task>
  LaterJobs(std::span<const std::size_t> path, std::size_t count, Before before, Task task)
      : places_(count, nobody),
        branches_(count, nobody),
        matches_(count, false),
        later_message_(count, false) {
    for (std::size_t k = 0; k < path.size(); ++k) {
      places_[path[k]] = k;
      matches_[path[k]] = true;
    }
    for (std::size_t i = path.front() + 1; i < count; ++i) {
      const std::size_t from = before(i);
      if (from == nobody || places_[from] == nobody || (places_[i] != nobody)) {
        continue;
      }
      const std::size_t next = places_[from] + 1;
      const bool same = matches_[from] && next < path.size() && task(i) == task(path[next]);
      places_[i] = same ? next : places_[from];
      matches_[i] = same;
      const bool leaves = path[places_[from]] == from;  // the path
      branches_[i] = leaves ? places_[from] : branches_[from];
      later_message_[i] = leaves ? same && i > path[next] : later_message_[from];
    }
  }

  // The place on the path after whose job a job of this link comes, if its root was released later;
  // nobody: another root.
  [[nodiscard]] std::size_t place(std::size_t link) const { return places_[link]; }

  // The place on the path whose job's messages lead to it; nobody: it is on the path, or has
  // another root.
  [[nodiscard]] std::size_t branches_from(std::size_t link) const { return branches_[link]; }

  // Whether it is a job of the callback that has this place, on the same way from the root.
  [[nodiscard]] bool matches(std::size_t link) const { return matches_[link]; }

  // Whether the same holds for what the root of the path's own job leads to.
  [[nodiscard]] bool later_message(std::size_t link) const { return later_message_[link]; }

 private:
  std::vector<std::size_t> places_;
  std::vector<std::size_t> branches_;
  std::vector<bool> matches_;  // a link of the callback that has this place on the path
  std::vector<bool> later_message_;
};

}  // namespace takt::analysis
