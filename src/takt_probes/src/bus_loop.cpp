// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/bus_loop.hpp"

#include "loop.hpp"

namespace takt::probe {
namespace {

/// Follows the counters of the cycles; does not allocate once it is made.
class Counters {
 public:
  explicit Counters(const Bus& bus)
      : report_{.slaves = bus.slaves(), .expected_counter = bus.expected_counter(), .changes = {}} {
    report_.changes.reserve(BusReport::most_changes);
  }

  void enter(std::uint64_t cycle, const BusCycle& done) noexcept {
    const bool changed = !known_ || done.working_counter != last_.working_counter ||
                         done.operational != last_.operational;
    if (changed && report_.changes.size() < BusReport::most_changes) {
      report_.changes.push_back({cycle, done.working_counter, done.operational});
    } else if (changed) {
      ++report_.changes_left_out;
    }
    if (changed && done.working_counter != last_.working_counter) {
      since_ = cycle;
    }
    report_.wrong_counter += done.working_counter != report_.expected_counter ? 1 : 0;
    last_ = done;
    known_ = true;
  }

  BusReport report(const Bus& bus) && {
    report_.foreign_frames = bus.foreign_frames();
    return std::move(report_);
  }

  /// Where the counter is wrong to the end.
  std::optional<os::NotGranted> fault() const {
    if (!known_ || last_.working_counter == report_.expected_counter) {
      return {};
    }
    return os::NotGranted{
        .what = "slaves were lost in mid-run",
        .why = "from cycle " + std::to_string(since_) + " to the end the working counter was " +
               std::to_string(last_.working_counter) + ", not " +
               std::to_string(report_.expected_counter) + "; " + std::to_string(last_.operational) +
               " of " + std::to_string(report_.slaves) + " slaves said that they were in operation",
        .fix = "look at the slaves' power, wiring and state"};
  }

 private:
  BusReport report_;
  BusCycle last_;
  std::uint64_t since_ = 0;  // the first cycle with the last counter
  bool known_ = false;
};

os::NotGranted silence(std::uint64_t cycle) {
  return {.what = "the segment does not answer any more",
          .why = std::to_string(most_lost_in_a_row) + " cycles in a row did not come back, up to " +
                 std::to_string(cycle),
          .fix = "look at the cable to the first slave, and at its power"};
}

}  // namespace

Outcome bus_cycles(const Bench& bench, Bus& bus) {
  const Options& options = bench.options;
  Outcome outcome;
  Counters counters{bus};
  std::optional<os::NotGranted> problem;
  Loop loop{outcome};
  Pacer pacer = make_pacer(options);
  int lost_in_a_row = 0;
  for (std::uint64_t k = 0; k < options.count; ++k) {
    pacer.wait(k, bench.stop);
    if (bench.stop.requested()) {
      break;
    }
    const auto done = bus.exchange();
    if (!done) {
      break;
    }
    const bool lost = done->received == never;
    record(bench, {.sequence = k, .intended = pacer.intended(k), .sent = done->sent},
           done->received);
    ++outcome.sent;
    if (lost) {
      ++outcome.lost;
      if (++lost_in_a_row == most_lost_in_a_row) {
        problem = silence(k);
        break;
      }
    } else {
      ++outcome.received;
      lost_in_a_row = 0;
      counters.enter(k, *done);
    }
  }
  outcome.finished = outcome.sent == options.count;
  if (!problem) {
    problem = bus.problem();
  }
  loop.end(pacer, problem ? problem : counters.fault());
  outcome.bus = std::move(counters).report(bus);
  return outcome;
}

}  // namespace takt::probe
