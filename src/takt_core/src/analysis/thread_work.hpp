// SPDX-License-Identifier: Apache-2.0
//
// How long all threads can be with given work at a time (threads.hpp): each exclusive group is on
// one thread at a time, and so is each job.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "bounds.hpp"
#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class ThreadWork {
 public:
  static constexpr nanoseconds longest = std::chrono::hours{24};  // nobody wants such a bound

  explicit ThreadWork(std::int64_t threads) : threads_(threads) {}

  void clear() noexcept;

  // Of an exclusive group, at most: what is noticed from the beginning on, and the same with what
  // is left from before.
  void add_group(nanoseconds released, nanoseconds with_older);

  // Of a reentrant callback, at most: jobs that are noticed from the beginning on, and those that
  // run then.
  void add_jobs(nanoseconds execution, std::int64_t released, std::int64_t older);

  // The longest time; nothing: too long, or too much to compute.
  Bound shared(Effort& effort);

 private:
  struct Group {
    nanoseconds released{0};
    nanoseconds with_older{0};
  };
  struct Jobs {
    nanoseconds execution{0};
    std::int64_t released = 0;
    std::int64_t older = 0;
  };

  nanoseconds shared_within(nanoseconds most);

  std::int64_t threads_;
  std::vector<Group> groups_;
  std::vector<Jobs> jobs_;
  std::vector<nanoseconds> older_;  // by thread that may have had it
};

// The same in the long run, as a share of the time. `groups`: the shares of one thread that
// exclusive groups need; `reentrant`: of all reentrant callbacks together.
double share_of_all_threads(std::vector<double> groups, double reentrant, std::int64_t threads);

}  // namespace takt::analysis
