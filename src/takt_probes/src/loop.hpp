// SPDX-License-Identifier: Apache-2.0
//
// What all measuring loops have in common: the bracket around a loop, recording, the overload rule.
#pragma once

#include <algorithm>

#include "takt/probe/pacer.hpp"
#include "takt/probe/roles.hpp"

namespace takt::probe {

/// Of a loop at a real-time priority that never catches up: 2 % of its CPU go to everything else.
inline constexpr OverloadRule real_time_overload{.patience = std::chrono::milliseconds{500},
                                                 .rest = std::chrono::milliseconds{10}};

inline Pacer make_pacer(const Options& options) {
  using std::chrono::nanoseconds;
  const auto lead = std::max<nanoseconds>(options.period, std::chrono::milliseconds{1});
  const auto rule = options.real_time() ? real_time_overload : OverloadRule{};
  return {os::now() + options.start_delay + lead, options.period, rule};
}

inline void record(const Bench& bench, const Message& message, os::TimePoint received) noexcept {
  if (bench.samples != nullptr) {
    bench.samples->record(message.sequence, message.intended, message.sent, received);
  }
}

/// Brackets a loop: what it cost and under which conditions it ran.
class Loop {
 public:
  explicit Loop(Outcome& outcome) : outcome_{outcome} {
    before_ = os::resource_usage(os::UsageOf::thread);
    outcome_.started = os::now();
  }

  /// What came before is not counted: a first timer may start a middleware's thread, whose stack is
  /// locked page by page. That is in the first sample, which is apart from every number.
  void count_from_here() { before_ = os::resource_usage(os::UsageOf::thread); }

  void end(std::optional<os::NotGranted> problem = {}) {
    outcome_.ended = os::now();
    outcome_.usage = os::resource_usage(os::UsageOf::thread) - before_;
    outcome_.granted = read_back();
    outcome_.problem = std::move(problem);
  }

  void end(const Pacer& pacer, std::optional<os::NotGranted> problem = {}) {
    end(std::move(problem));
    outcome_.overruns = pacer.overruns();
    outcome_.rests = pacer.rests();
  }

 private:
  Outcome& outcome_;
  os::ResourceUsage before_;
};

}  // namespace takt::probe
