// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/supply_loop.hpp"

#include "loop.hpp"

namespace takt::probe {

Outcome supply(const Bench& bench, SampleFile* gaps) {
  const Options& options = bench.options;
  const std::uint64_t most = gaps_of_a_window(options.period);
  Outcome outcome;
  Loop loop{outcome};
  Pacer pacer = make_pacer(options);
  for (std::uint64_t k = 0; k < options.count; ++k) {
    pacer.wait(k, bench.stop);
    const auto woken = os::now();
    if (bench.stop.requested()) {
      break;
    }
    const auto intended = pacer.intended(k);
    watch_window(k, woken, intended + supply_window(options.period), most, gaps, os::now,
                 [&] { return bench.stop.requested(); });
    if (bench.stop.requested()) {
      break;
    }
    // After its gaps: a window that is recorded is whole.
    record(bench, {.sequence = k, .intended = intended, .sent = intended}, woken);
    outcome.sent = outcome.received = k + 1;
  }
  outcome.finished = outcome.sent == options.count;
  loop.end(pacer);
  return outcome;
}

}  // namespace takt::probe
