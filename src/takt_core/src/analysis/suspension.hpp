// SPDX-License-Identifier: Apache-2.0
//
// Fixed priorities with jobs that suspend themselves. The influence of other demands on one demand
// is expressed by demands without suspension, so that the test of fixed_priority.hpp applies to
// them:
//
//  - The demand's own jobs, and those of its task's other streams, count their suspension as
//    execution: one thread runs them one after the other.
//  - What it waits for while its own job waits (Demand::clients) is part of the suspension.
//  - Jobs of others that come before it compute while it wants to run, and wait while it does not.
//    They count as releases that come up to R - C early: the most that a job computes in an
//    interval which begins when it has been released for some time (J.-J. Chen et al., "Many
//    suspensions, many problems", Real-Time Systems 55, 2019, on suspension as release jitter; for
//    arbitrary deadlines M. Günzel, N. Ueter, J.-J. Chen, RTSS 2021). The suspension alone as
//    jitter would be too little.
//  - Of equal priorities the kernel runs the thread that became ready first, however late its
//    job was released: if one of two suspends itself, each counts as above the other.
//  - A job that resumes may each time find a less urgent job that holds a ceiling or a lock. As the
//    number of times has no bound, all jobs that can block it like that count as above; of their
//    time of computing what they compute in the sections that reach it. Where it waits at most n
//    times, it is ready in at most n + 1 intervals, in each of which sections block it as a job
//    that does not wait (lock_blocking.hpp): this is a bound, too.
//
// R is the response in the whole set, hence the least solution for all demands together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Whether any job suspends itself; if not, the demands need no change.
bool anyone_waits(std::span<const Demand> demands) noexcept;

// Whether the response of this demand depends on the suspension of any job.
bool depends_on_waiting(std::span<const Demand> demands, const Demand& own) noexcept;

// Whether as_delayed_by_waits() uses the response of this demand for another one.
bool others_need_response(std::span<const Demand> demands, const Demand& demand) noexcept;

// The demands as they interfere with demand `own`. `responses` are bounds for all demands. None if
// a bound that is needed is not known.
std::optional<std::vector<Demand>> as_delayed_by_waits(std::span<const Demand> demands,
                                                       std::size_t own,
                                                       std::span<const Response> responses);

// The demands without the sections of those below, which `own` contains in its time of computing:
// once in each interval in which it is ready. None if the number of its waits has no bound, or if
// there are no such sections.
std::optional<std::vector<Demand>> with_sections_as_own(std::span<const Demand> demands,
                                                        std::size_t own);

}  // namespace takt::analysis
