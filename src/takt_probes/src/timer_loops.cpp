// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/timer_loops.hpp"

#include <sched.h>

#include <algorithm>

#include "loop.hpp"

namespace takt::probe {
namespace {

/// A loop that waits busily at a real-time priority has to rest now and then, between samples.
class Rests {
 public:
  explicit Rests(const Options& options)
      : needed_{options.real_time() && options.wait == Wait::busy} {}

  std::uint64_t count() const noexcept { return count_; }

  void rest_if_due(const os::StopFlag& stop) noexcept {
    if (needed_ && os::now() - last_ >= real_time_overload.patience) {
      os::sleep_until(os::now() + real_time_overload.rest, stop);
      last_ = os::now();
      ++count_;
    }
  }

 private:
  bool needed_;
  std::uint64_t count_ = 0;
  os::TimePoint last_ = os::now();
};

}  // namespace

void give_way(const Options& options) noexcept {
  if (options.real_time()) {
    sched_yield();
  }
}

Outcome timer_oneshot(const Bench& bench, Timer& timer) {
  const Options& options = bench.options;
  Outcome outcome;
  if (bench.stop.wait_until(os::now() + options.start_delay)) {
    return outcome;
  }
  Loop loop{outcome};
  Rests rests{options};
  for (std::uint64_t k = 0; k < options.count && !bench.stop.requested(); ++k) {
    rests.rest_if_due(bench.stop);
    const auto started = timer.start(options.timeout);
    if (!started) {
      break;
    }
    const auto due = *started + options.timeout;
    const auto expiry = timer.wait(due + options.lost_after);
    if (expiry) {
      record(bench, {.sequence = k, .intended = due, .sent = due + expiry->reported},
             expiry->called);
      ++outcome.received;
    } else if (bench.stop.requested() || timer.problem()) {
      break;
    } else {
      timer.stop();
      record(bench, {.sequence = k, .intended = due, .sent = due}, never);
      ++outcome.lost;
    }
    outcome.sent = k + 1;
    if (k == 0) {
      loop.count_from_here();
    }
  }
  outcome.finished = outcome.sent == options.count;
  outcome.rests = rests.count();
  loop.end(timer.problem());
  timer.stop();
  return outcome;
}

Outcome timer_cyclic(const Bench& bench, Timer& timer) {
  const Options& options = bench.options;
  Outcome outcome;
  if (bench.stop.wait_until(os::now() + options.start_delay)) {
    return outcome;
  }
  Loop loop{outcome};
  const auto started = timer.start(options.period);
  const auto due = [&](std::uint64_t k) {
    return *started + static_cast<std::int64_t>(k + 1) * options.period;
  };
  // Those that were passed over or never came.
  const auto lose = [&](std::uint64_t expiries) {
    for (; expiries > 0 && outcome.sent < options.count; --expiries) {
      const auto intended = due(outcome.sent);
      record(bench, {.sequence = outcome.sent, .intended = intended, .sent = intended}, never);
      ++outcome.lost;
      ++outcome.sent;
    }
  };
  auto last = started.value_or(os::TimePoint{});
  while (started && outcome.sent < options.count && !bench.stop.requested()) {
    const auto turn = std::max(due(outcome.sent), last + options.period);
    const auto expiry = timer.wait(turn + options.lost_after);
    if (expiry) {
      lose(expiry->passed_over);
      last = expiry->called;
      if (outcome.sent < options.count) {
        const auto intended = due(outcome.sent);
        record(
            bench,
            {.sequence = outcome.sent, .intended = intended, .sent = intended + expiry->reported},
            expiry->called);
        outcome.overruns += expiry->called - intended >= options.period ? 1 : 0;
        ++outcome.received;
        ++outcome.sent;
      }
      if (outcome.received == 1) {
        loop.count_from_here();
      }
    } else if (bench.stop.requested() || timer.problem()) {
      break;
    } else {
      lose(1);
      last = os::now();
    }
  }
  outcome.finished = outcome.sent == options.count;
  loop.end(timer.problem());
  timer.stop();
  return outcome;
}

}  // namespace takt::probe
