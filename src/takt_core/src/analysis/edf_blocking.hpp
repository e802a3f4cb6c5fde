// SPDX-License-Identifier: Apache-2.0
//
// Blocking under EDF: how long jobs that are due later delay one that is due within an interval,
// with exclusive groups or locks (Baker 1991) and releases that are noticed late.
//
// Let the interval [s, s + t] begin when no job that is due by its end is pending, and let such a
// job be pending at any time from then on. A job that is due after the end computes in the interval
// only if it started before s (because the first waiting job starts, or none does), and only while
// a holder H on the stack blocks a job W. So only H and the jobs above H on the stack count, each
// once, less the nanosecond for which it has already run where the core is whole. Of these:
//
//  - H is noticed before s and due after the end: D_H > t + 1. W is noticed from s on and due by
//    the end: D_W - J_W <= t. And H blocks W: level(W) <= ceiling(H).
//  - X above H has started in spite of it: level(X) > ceiling(H), and is due after the end:
//    D_X > t + 1. As levels are those of relative deadlines, D_X < D_W: there is an X only if
//    J_W > D_W - D_X, so for jobs that are noticed at once Baker's one blocker remains.
//  - Of two such X the upper one started while the lower one held its group, so the ranges from
//    level to ceiling of those in groups are disjoint; and two that are noticed at once, with one
//    relative deadline, do not preempt each other.
//
// B(t) is the maximum over all H of its C - 1 plus that of such a stack above it. A job that holds
// locks while it computes counts with each section in place of C - 1, and with the ceiling of its
// lock: once it has left the outermost section that it was in at s and that blocks such a W, it
// computes no more in the interval. The section counts in full, for it may begin at s.
// Non-preemptive jobs have no job above H. Fixed priorities have one blocker, however late releases
// are noticed: level(X) > ceiling(H) >= level(W) means that W waits for X anyway.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class EdfBlocking {
 public:
  EdfBlocking(std::span<const Demand> demands, bool preemptive, const Supply& supply = {});

  // B(t), for a job that is due within t.
  [[nodiscard]] nanoseconds at(nanoseconds length) const noexcept;
  [[nodiscard]] nanoseconds longest() const noexcept;

  // Where B changes, ascending, without repetition.
  [[nodiscard]] std::vector<nanoseconds> changes() const;

 private:
  // Blocks jobs that are due within `from`, and below `until`.
  struct Holder {
    nanoseconds from;
    nanoseconds until;
    nanoseconds longest;
    sched::Level ceiling;
  };
  struct Step {
    nanoseconds from;  // and up to the next one
    nanoseconds longest;
  };

  void add_holders(std::span<const Demand> demands, bool preemptive);
  void add_step(nanoseconds from, nanoseconds longest);
  void add_steps();
  void add_nested_steps(std::span<const Demand> demands);
  [[nodiscard]] bool may_nest(std::span<const Demand> demands) const;

  nanoseconds head_start_;  // of a job that has started
  std::vector<Holder> holders_;
  std::vector<Step> steps_;
};

}  // namespace takt::analysis
