// SPDX-License-Identifier: Apache-2.0
//
// The measuring loops, one per role, the same for every stack. A loop returns when its samples are
// taken, when its other end says so, or when a stop is requested; it does not throw and does not
// allocate.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/os/not_granted.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/usage.hpp"
#include "takt/probe/bus.hpp"
#include "takt/probe/conditions.hpp"
#include "takt/probe/ledger.hpp"
#include "takt/probe/link.hpp"
#include "takt/probe/options.hpp"
#include "takt/probe/sample_file.hpp"

namespace takt::probe {

/// What a role counted and what its loop cost.
struct Outcome {
  std::uint64_t sent = 0;  ///< samples that are decided: received or lost, not under way
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t late = 0;      ///< replies to samples that had been given up as lost
  std::uint64_t overruns = 0;  ///< samples whose start time had passed already
  std::uint64_t rests = 0;     ///< rests that a lasting overload forced
  bool finished = false;       ///< the loop came to its end without a stop request
  os::TimePoint started{};
  os::TimePoint ended{};
  os::ResourceUsage usage;  ///< of the loop's thread, in the loop
  Granted granted;
  std::optional<BusReport> bus;           ///< of the kinds that have one
  std::optional<AddressCheck> addresses;  ///< of links within one process that hand memory over
  std::optional<os::NotGranted> problem;
};

/// What a role works with. `samples` may be null: nothing is recorded.
struct Bench {
  const Options& options;
  os::StopFlag& stop;
  SampleFile* samples;
};

Outcome wakeup(const Bench& bench);
Outcome ping(const Bench& bench, Link& link);
Outcome pong(const Bench& bench, Link& link);
Outcome publish(const Bench& bench, Link& link);
Outcome subscribe(const Bench& bench, Link& link);

}  // namespace takt::probe
