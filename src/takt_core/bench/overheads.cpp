// SPDX-License-Identifier: Apache-2.0
//
// What the executor takes from the application, piece by piece, as analysis and simulation want it
// (application::Overheads):
//
//   dispatch  from the end of one callback to the begin of the next one that waits already
//   release   the gap that a job sees when another is released that does not preempt it
//   preempted the gap that it sees when the other preempts it, with an empty callback
//
// Gaps are seen by a callback that burns the core and reads the clock without end. A gap counts
// when it lies at a release; all others are the kernel's own.
#include "bench.hpp"

namespace takt::bench {
namespace {

using Samples = std::vector<std::int64_t>;

constexpr nanoseconds burn_period = 50ms;
constexpr nanoseconds burn_time = 40ms;  // leaves room below the limit for real-time threads
constexpr int released = 10;             // tasks that are released during each burn
constexpr nanoseconds shortest_gap = 300ns;

struct Gap {
  os::TimePoint begin;
  os::TimePoint end;
};

nanoseconds offset_of(int task) {
  return 3ms + task * 3100us;
}

// The longest gap that begins at a release: a timer may come a little late.
Samples at_releases(const std::vector<Gap>& gaps, os::TimePoint start, nanoseconds duration) {
  constexpr nanoseconds before = 5us;
  constexpr nanoseconds after = 150us;
  Samples samples;
  auto gap = gaps.begin();
  for (auto burn = start; burn < start + duration; burn += burn_period) {
    for (int task = 0; task < released; ++task) {
      const os::TimePoint release = burn + offset_of(task);
      while (gap != gaps.end() && gap->begin < release - before) {
        ++gap;
      }
      std::int64_t longest = 0;
      for (; gap != gaps.end() && gap->begin < release + after; ++gap) {
        longest = std::max(longest, (gap->end - gap->begin).count());
      }
      if (longest > 0) {
        samples.push_back(longest);
      }
    }
  }
  return samples;
}

Samples gaps_of(const Settings& settings, const char* policy, bool preempts) {
  std::vector<Gap> gaps;
  gaps.reserve(1'000'000);
  executor::Executor executor{{.policy = sched::parse_policy(policy),
                               .cpus = {settings.cpu},
                               .on_not_granted = note_not_granted}};
  sched::Task burner = timer("burner", burn_period, 30);
  burner.parameters.deadline = burn_time + 5ms;
  executor.add(burner, {[&](const sched::Job& job) {
                 os::TimePoint last = os::now();
                 while (last < job.release + burn_time) {
                   const os::TimePoint now = os::now();
                   if (now - last > shortest_gap && gaps.size() < gaps.capacity()) {
                     gaps.push_back({.begin = last, .end = now});
                   }
                   last = now;
                 }
               }});
  for (int i = 0; i < released; ++i) {
    sched::Task task =
        timer("task" + std::to_string(i), burn_period, (preempts ? 40 : 10) + i, offset_of(i));
    task.parameters.deadline = preempts ? 1ms : burn_period;
    executor.add(task, {[](const auto&) {}});
  }
  executor.start();
  const os::TimePoint begin = executor.start_time() + burn_period;  // the first one is cold
  os::sleep_until(begin + settings.duration);
  executor.stop();
  return at_releases(gaps, begin, settings.duration - burn_period);
}

Samples between_callbacks(const Settings& settings, const char* policy) {
  constexpr int tasks = 50;
  constexpr nanoseconds period = 10ms;
  Samples samples;
  samples.reserve(static_cast<std::size_t>(settings.duration / period + 10) * tasks);
  executor::Executor executor{{.policy = sched::parse_policy(policy),
                               .cpus = {settings.cpu},
                               .on_not_granted = note_not_granted}};
  os::TimePoint last_end;
  os::TimePoint last_release;
  for (int i = 0; i < tasks; ++i) {
    executor.add(
        timer("task" + std::to_string(i), period, 40), {[&](const sched::Job& job) {
          const os::TimePoint begin = os::now();
          if (job.release == last_release && job.index > 2 && samples.size() < samples.capacity()) {
            samples.push_back((begin - last_end).count());
          }
          last_release = job.release;
          last_end = os::now();
        }});
  }
  executor.start();
  os::sleep_until(executor.start_time() + settings.duration);
  executor.stop();
  return samples;
}

Json row(const char* policy, const char* what, Samples samples) {
  return {{"policy", policy},
          {"what", what},
          {"p50_ns", quantile(samples, 0.5)},
          {"p99_ns", quantile(samples, 0.99)},
          {"samples", samples.size()}};
}

}  // namespace

void overheads(const Settings& settings) {
  Json rows = Json::array();
  for (const char* policy : {"fp", "edf"}) {
    Samples dispatch;
    Samples release;
    Samples preempted;
    for (int round = 0; round < settings.rounds; ++round) {
      const auto append = [](Samples& to, const Samples& more) {
        to.insert(to.end(), more.begin(), more.end());
      };
      append(dispatch, between_callbacks(settings, policy));
      append(release, gaps_of(settings, policy, false));
      append(preempted, gaps_of(settings, policy, true));
    }
    rows.push_back(row(policy, "dispatch", std::move(dispatch)));
    rows.push_back(row(policy, "release", std::move(release)));
    rows.push_back(row(policy, "preempted", std::move(preempted)));
  }
  print_document("overheads", settings, rows);
}

}  // namespace takt::bench
