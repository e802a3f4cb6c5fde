// SPDX-License-Identifier: Apache-2.0
//
// How long jobs that are due later keep out one that is due within an interval, under EDF with
// exclusive groups (Baker 1991) and releases that are noticed late.
//
// Let the interval [s, s + t] begin when, of the jobs that are due by its end, none is there, and
// contain one of them from then on at any time. Whoever is due after the end computes in it only if
// he started before s, since the first that waits starts or nobody does, and only while some holder
// H on the stack keeps out a job W. So all that counts is H and what is on the stack above H, each
// once, less the nanosecond for which it has run. Of these:
//
//  - H is noticed before s and due after the end: D_H > t + 1. W is noticed from s on and due by
//    the end: D_W - J_W <= t. And W is kept out: level(W) <= ceiling(H).
//  - X above H has started in spite of it: level(X) > ceiling(H), and is due after the end:
//    D_X > t + 1. As levels are those of relative deadlines, D_X < D_W: there is an X only where
//    J_W > D_W - D_X, so for jobs that are noticed at once Baker's one blocker remains.
//  - Of two such X the upper one started while the lower one held its group, so the ranges from the
//    level to the ceiling of those in groups are disjoint; and two that are noticed at once, with
//    one relative deadline, do not preempt each other.
//
// B(t) is the most over all H of its C - 1 and that of such a stack above it. What is not
// preemptive has nothing above H. Fixed priorities have one blocker, however late they are noticed:
// level(X) > ceiling(H) >= level(W) there makes X one that W waits for anyway.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class EdfBlocking {
 public:
  EdfBlocking(std::span<const Demand> demands, bool preemptive);

  // B(t), for a job that is due within t.
  [[nodiscard]] nanoseconds at(nanoseconds length) const noexcept;
  [[nodiscard]] nanoseconds longest() const noexcept;

  // Where B changes, ascending, without repetition.
  [[nodiscard]] std::vector<nanoseconds> changes() const;

 private:
  // Blocks what is due within `from`, and below `until`.
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

  std::vector<Holder> holders_;
  std::vector<Step> steps_;
};

}  // namespace takt::analysis
