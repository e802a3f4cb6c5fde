// SPDX-License-Identifier: Apache-2.0
//
// When which job had which core, and what became of each job, derived from the events of a trace.
//
// Preemption by the kernel is not seen by the threads themselves. On one core, a job that starts
// while another one runs has preempted it, and the other one resumes when it ends; a job that is
// boosted moves up among those that have started. Preempt and resume events, which the simulator
// writes, are taken as they are.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "takt/sched/policy.hpp"
#include "takt/trace/event.hpp"
#include "takt/trace/reader.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

// A time or a number that the trace does not tell.
inline constexpr std::int64_t not_told = std::numeric_limits<std::int64_t>::min();

// Of a damaged trace the difference of two times may be none: it wraps.
constexpr std::int64_t elapsed(std::int64_t from, std::int64_t to) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) -
                                   static_cast<std::uint64_t>(from));
}

// One release of a task and what became of it; ns.
struct Job {
  std::uint64_t serial = 0;  // counts the jobs in the order of their first events
  std::uint64_t job = 0;
  std::int64_t release = not_told;
  std::int64_t start = not_told;
  std::int64_t end = not_told;
  std::int64_t deadline = not_told;  // also where it has none
  std::int64_t priority = not_told;
  std::int64_t cpu_time = not_told;  // also where it is not measured
  std::int64_t running = 0;          // for how long it had a core
  // For how long its thread could have run and did not: between its last job and this one, and in
  // this one, in which it slept so often. Only where the trace tells (attribute waits_from_ns).
  std::int64_t waited_before = 0;
  std::int64_t waited = 0;
  std::uint32_t preemptions = 0;
  std::uint16_t task = no_task;
  std::uint16_t core = no_core;  // where it started
  std::uint8_t sleeps = 0;
  bool missed = false;  // ended after its deadline
  // The policy that its core followed at its release goes by deadlines; else by priorities.
  bool by_deadline = false;
};

// A stretch of time, not empty, in which one job had the core.
struct Slice {
  std::uint64_t serial = 0;  // of the job
  std::uint64_t job = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t started = 0;  // when the job did
  std::uint16_t task = no_task;
  std::uint16_t core = no_core;
};

// The order by which the policies of a trace decide. A policy that this Takt does not know (one of
// the user's own) is taken to go by the priorities that are in the trace.
class TAKT_CORE_PUBLIC Orders {
 public:
  explicit Orders(const About& about);
  [[nodiscard]] bool by_deadline(std::uint16_t core) const;
  void take(const Event& scenario);

 private:
  std::map<std::int64_t, sched::Order> scenarios_;
  std::map<std::uint16_t, sched::Order> cores_;
  sched::Order first_ = sched::Order::priority;
};

// Derives slices and jobs from events by time.
class TAKT_CORE_PUBLIC Timeline {
 public:
  explicit Timeline(const About& about = {}) : orders_{about} {}

  void take(const Event& event);
  void close();  // the trace is over: what is open has no end, and a slice up to the last event

  // In the order in which they become known; whoever takes them empties the vectors.
  std::vector<Slice> slices;
  std::vector<Job> jobs;  // of which no further event will come

  [[nodiscard]] std::vector<Job> unfinished() const;  // all that are not in `jobs` yet
  [[nodiscard]] std::int64_t settled() const;  // all slices that began before are in `slices`

  // Jobs that ended while a job which had started later on their core was still running. With
  // priorities that happens only when a callback sleeps; without them (no privilege) the threads
  // share the core by time slices, which no event shows. Slices of such jobs are a guess.
  [[nodiscard]] std::uint64_t not_nested() const noexcept { return not_nested_; }

 private:
  struct Open {
    std::shared_ptr<Job> job;
    std::int64_t since = 0;  // when its present stretch began; not_told: it is preempted
  };
  using Stack = std::vector<Open>;  // the last started on top
  using Key = std::pair<std::uint16_t, std::uint64_t>;

  std::shared_ptr<Job> job_of(const Event& event);
  void start(const Event& event);
  void end(const Event& event);
  void boost(const Event& event);
  bool leave(std::uint16_t core, const Job& job, std::int64_t time);
  void drop_lost(std::uint16_t task);
  void pause(Open& open, std::uint16_t core, std::int64_t time);
  void slice(const Open& open, std::uint16_t core, std::int64_t time);
  Open* found(const Event& event);

  Orders orders_;
  std::map<std::uint16_t, Stack> cores_;
  std::map<Key, std::shared_ptr<Job>> jobs_;             // released or started
  std::map<std::uint16_t, std::shared_ptr<Job>> ended_;  // by task: events may follow the end
  std::uint64_t serial_ = 0;
  std::uint64_t not_nested_ = 0;
  std::int64_t last_ = 0;
};

// All of a trace that is in memory; slices by begin.
TAKT_CORE_PUBLIC Timeline timeline(const std::vector<Event>& events);

}  // namespace takt::trace
