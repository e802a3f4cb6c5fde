// SPDX-License-Identifier: Apache-2.0
//
// Response times under preemptive EDF without blocking (Spuri 1996), of all demands at once. In a
// busy period that begins with the densest releases of all demands, let E(d) be the time at which
// all work is done that is due by d: the least t with t = sum of min(noticed before t, due by d) *
// C. A job that is due at d and released at d - D, before E(d), ends at E(d), whichever demand it
// belongs to. A job that is released later does not count: its busy period has begun anew, with an
// earlier d. So
//
//   response of a demand = D + max over all d >= D at which any job is due of E(d) - d,
//
// and at least its execution time. E(d) grows with d, so one pass over the deadlines finds all of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "demand_curve.hpp"
#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class DueSweep {
 public:
  DueSweep(std::span<const Demand> demands, const DemandCurve& curve,
           std::span<const ArrivalCount> noticed, const Supply& supply)
      : demands_(demands),
        curve_(curve),
        noticed_(noticed),
        supply_(supply),
        jobs_(demands.size()) {}

  // Computes the responses within a busy period of this length. False if it is too much to compute.
  bool run(nanoseconds busy, Effort& effort);

  // From the noticing of a job to its end; after run().
  [[nodiscard]] nanoseconds response(std::size_t demand) const;

 private:
  struct Jobs {
    std::int64_t noticed = 0;  // before time_
    std::int64_t due = 0;      // by the present deadline
    std::int64_t counted = 0;  // the fewer of both
  };
  struct Event {
    nanoseconds at;
    std::size_t of;
  };
  struct Late {
    nanoseconds due;
    nanoseconds most;  // of E(d) - d, from this deadline on
  };

  bool find_dues(nanoseconds busy, Effort& effort);
  void go_on_to(nanoseconds time);
  void count(std::size_t of);

  std::span<const Demand> demands_;
  const DemandCurve& curve_;
  std::span<const ArrivalCount> noticed_;
  const Supply& supply_;
  std::vector<Jobs> jobs_;     // by demand
  std::vector<Event> dues_;    // ascending
  std::vector<Event> coming_;  // a heap: the next notice of each demand
  std::vector<Late> late_;     // ascending
  nanoseconds time_{0};
  nanoseconds work_{0};  // of all counted jobs
};

}  // namespace takt::analysis
