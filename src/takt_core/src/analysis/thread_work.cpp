// SPDX-License-Identifier: Apache-2.0
#include "thread_work.hpp"

#include <algorithm>
#include <functional>
#include <ranges>

#include "takt/os/saturating.hpp"

namespace takt::analysis {

void ThreadWork::clear() noexcept {
  groups_.clear();
  jobs_.clear();
}

void ThreadWork::add_group(nanoseconds released, nanoseconds with_older) {
  groups_.push_back({.released = released, .with_older = with_older});
}

void ThreadWork::add_jobs(nanoseconds execution, std::int64_t released, std::int64_t older) {
  jobs_.push_back({.execution = execution,
                   .released = released,
                   .older = std::clamp<std::int64_t>(older, 0, threads_ - 1)});
}

// From above: with `most` = the sum of what is noticed, it is not longer, as of what is left n - 1
// parts count, each of them on one thread.
Bound ThreadWork::shared(Effort& effort) {
  nanoseconds most{0};
  for (const Group& group : groups_) {
    most = os::add_sat(most, group.released);
  }
  for (const Jobs& jobs : jobs_) {
    most = os::add_sat(most, os::mul_sat(jobs.execution, jobs.released));
  }
  most = std::min(most, longest);
  for (;;) {
    if (!effort.spend(groups_.size() + jobs_.size())) {
      return {};
    }
    const nanoseconds less = shared_within(most);
    if (less >= most) {
      return most < longest ? Bound{most} : Bound{};
    }
    most = less;
  }
}

// If no thread has more than `most` of one group, or of one job.
nanoseconds ThreadWork::shared_within(nanoseconds most) {
  nanoseconds sum{0};
  older_.clear();
  for (const Group& group : groups_) {
    const nanoseconds released = std::min(group.released, most);
    sum += released;
    older_.push_back(std::min(group.with_older, most) - released);
  }
  for (const Jobs& jobs : jobs_) {
    const nanoseconds each = std::min(jobs.execution, most);
    sum = os::add_sat(sum, os::mul_sat(each, jobs.released));
    older_.insert(older_.end(), static_cast<std::size_t>(jobs.older), each);
  }
  const auto count = std::min(older_.size(), static_cast<std::size_t>(threads_ - 1));
  std::ranges::partial_sort(older_, older_.begin() + static_cast<std::ptrdiff_t>(count),
                            std::greater{});
  for (const nanoseconds older : older_ | std::views::take(count)) {
    sum = os::add_sat(sum, older);
  }
  return sum / threads_;
}

double share_of_all_threads(std::vector<double> groups, double reentrant, std::int64_t threads) {
  double rest = reentrant;
  for (double& share : groups) {
    share = std::min(1.0, share);
    rest += share;
  }
  std::ranges::sort(groups, std::greater{});
  std::int64_t left = threads;
  double least = rest / static_cast<double>(left);
  for (const double share : groups | std::views::take(threads - 1)) {  // it has one thread
    rest -= share;
    least = std::min(least, rest / static_cast<double>(--left));
  }
  return least;
}

}  // namespace takt::analysis
