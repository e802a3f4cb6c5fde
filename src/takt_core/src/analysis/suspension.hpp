// SPDX-License-Identifier: Apache-2.0
//
// Fixed priorities with jobs that wait (self-suspension). What one demand sees of the others is put
// into demands without waiting, so that the test of fixed_priority.hpp holds for them:
//
//  - Its own jobs, and those of its task's other streams, take their waiting as if they computed:
//    one thread does them one after the other.
//  - Jobs of others that come before it compute while it wants to run, and wait while it does not.
//    Counted as releases that come up to R - C early: the most that a job computes in an interval
//    which begins when it has been released for some time (J.-J. Chen et al., "Many suspensions,
//    many problems", Real-Time Systems 55, 2019, on suspension as release jitter; for any deadlines
//    M. Günzel, N. Ueter, J.-J. Chen, RTSS 2021). The waiting alone as jitter would be too little.
//  - Of equal priorities the kernel runs whoever became ready first, however late it was released:
//    where one of two waits, each counts as above the other.
//  - Whoever waits may find a job below that holds a ceiling each time it comes back. How often
//  that
//    is nobody knows, so all jobs that can be in the way like that count as above.
//
// R is that of the whole set, hence the least solution for all demands together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Whether some job waits; if not, the demands are what they are.
bool anyone_waits(std::span<const Demand> demands) noexcept;

// Whether the response of this demand depends on somebody's waiting.
bool depends_on_waiting(std::span<const Demand> demands, const Demand& own) noexcept;

// Whether seen_by() takes the response of this demand for some other one.
bool others_need_response(std::span<const Demand> demands, const Demand& demand) noexcept;

// `responses` are bounds for all demands. None where one that is needed is not known.
std::optional<std::vector<Demand>> seen_by(std::span<const Demand> demands, std::size_t own,
                                           std::span<const Response> responses);

}  // namespace takt::analysis
