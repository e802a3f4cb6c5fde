// SPDX-License-Identifier: Apache-2.0
#include "chain_meetings.hpp"

#include <algorithm>

namespace takt::analysis {

// For each job and visit: the most of it and of what follows it, if all of these run at this visit
// or later. A job that overlaps says nothing about when those run that its messages release.
nanoseconds most_met(std::span<const Meeting> jobs, std::size_t visits) {
  const std::size_t width = visits + 1;
  std::vector<nanoseconds> following(jobs.size() * width);
  nanoseconds all{0};
  for (std::size_t i = jobs.size(); i-- > 0;) {
    const Meeting& job = jobs[i];
    nanoseconds longest{0};  // if it runs here or later
    for (std::size_t visit = width; visit-- > 0;) {
      const nanoseconds behind = following[i * width + visit];
      const bool here = visit < visits && job.execution.count() > 0 && job.visits[visit];
      if (here) {
        longest = std::max(longest, job.execution + (job.overlaps ? nanoseconds{0} : behind));
      }
      const nanoseconds most = job.overlaps ? behind + longest : std::max(behind, longest);
      if (job.before != nobody) {
        following[job.before * width + visit] += most;
      } else if (visit == 0) {
        all += most;
      }
    }
  }
  return all;
}

}  // namespace takt::analysis
