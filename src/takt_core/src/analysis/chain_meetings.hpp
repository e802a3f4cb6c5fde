// SPDX-License-Identifier: Apache-2.0
//
// How much of a chain's instance a path across cores can meet (docs/reference/analysis.md, eq. 38).
// Both go from core to core, and the jobs of the instance follow each other: what delays the path
// at one of its visits comes after what has delayed it before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// A job of an instance.
struct Meeting {
  std::size_t link = 0;
  std::size_t before = nobody;  // index of the one whose message releases it, which comes before it
  nanoseconds execution{0};     // 0: it does not delay the path
  bool overlaps = false;        // jobs that its messages release may start before it has ended
};

class Meetings {
 public:
  // The most that jobs of one instance can delay the path by, all together. `runs`: whether the
  // job of a link may run at a visit of the path.
  template <class Runs>
  nanoseconds most(std::span<const Meeting> jobs, std::size_t visits, Runs runs) {
    const std::size_t width = visits + 1;
    // For each job and visit: the most of what follows it, if that runs at this visit or later.
    following_.assign(jobs.size() * width, nanoseconds{0});
    nanoseconds all{0};
    for (std::size_t i = jobs.size(); i-- > 0;) {
      const Meeting& job = jobs[i];
      nanoseconds longest{0};  // with the job at this visit or later
      for (std::size_t visit = width; visit-- > 0;) {
        const nanoseconds behind = following_[i * width + visit];
        if (visit < visits && job.execution.count() > 0 && runs(job.link, visit)) {
          longest = std::max(longest, job.execution + (job.overlaps ? nanoseconds{0} : behind));
        }
        // A job that overlaps says nothing about when those run that it releases.
        const nanoseconds most = job.overlaps ? behind + longest : std::max(behind, longest);
        if (job.before != nobody) {
          following_[job.before * width + visit] += most;
        } else if (visit == 0) {
          all = most;
        }
      }
    }
    return all;
  }

 private:
  std::vector<nanoseconds> following_;
};

}  // namespace takt::analysis
