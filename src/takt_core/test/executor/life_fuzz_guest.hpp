// SPDX-License-Identifier: Apache-2.0
//
// The tasks that come and go in the life-cycle fuzz: they check themselves while they run, and
// enter what they saw into the books.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include "life_fuzz_ledger.hpp"
#include "life_fuzz_watchdog.hpp"
#include "takt/executor/executor.hpp"
#include "takt/os/clock.hpp"

namespace takt::fuzz {

using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t limit) {
  return std::uniform_int_distribution<std::uint64_t>{0, limit - 1}(random);
}
inline bool one_in(Random& random, std::uint64_t number) {
  return below(random, number) == 0;
}

// What the whole run has done; printed at its end.
struct Counts {
  using Count = std::atomic<std::uint64_t>;

  Count rounds{0}, starts{0}, stops{0}, adds{0}, removes{0}, refused{0}, switches{0}, pauses{0},
      settings{0}, strategies{0}, batches{0}, asks{0}, from_callbacks{0}, notifications{0}, lost{0},
      jobs{0}, misses{0}, overruns{0}, skips{0}, traces{0};

  [[nodiscard]] auto all() const {
    return std::array{std::pair{&rounds, "rounds"},
                      std::pair{&starts, "starts"},
                      std::pair{&stops, "stops"},
                      std::pair{&adds, "adds"},
                      std::pair{&removes, "removes"},
                      std::pair{&refused, "refused"},
                      std::pair{&switches, "switches"},
                      std::pair{&pauses, "pauses"},
                      std::pair{&settings, "timers set"},
                      std::pair{&strategies, "strategies"},
                      std::pair{&batches, "batches"},
                      std::pair{&asks, "questions"},
                      std::pair{&from_callbacks, "operations from callbacks and handlers"},
                      std::pair{&notifications, "notifications"},
                      std::pair{&lost, "lost"},
                      std::pair{&jobs, "jobs"},
                      std::pair{&misses, "misses told"},
                      std::pair{&overruns, "overruns told"},
                      std::pair{&skips, "skips told"},
                      std::pair{&traces, "traces read"}};
  }
};

inline void check(bool holds, const std::string& task, const char* what) {
  if (!holds) {
    fail("task '" + task + "' " + what);
  }
}

// A task, and what was seen of it. Lives longer than the executor.
struct Guest {
  sched::Task task;
  std::size_t queue = 16;
  std::chrono::nanoseconds work{0};
  bool named = false;                    // by a scenario
  bool always_active = true;             // in every scenario
  std::atomic<int>* in_group = nullptr;  // jobs of the group that run
  bool is_source = false;                // its jobs come from a JobSource
  std::function<void()> meanwhile = {};  // what its callback does to the executor

  executor::AddedTask added = {};
  std::atomic<bool> present{false};     // add() has returned, and nobody has begun to remove it
  std::atomic<bool> leaves{false};      // its removal has begun
  std::atomic<bool> removed{false};     // ... and is over
  std::atomic<bool> undisturbed{true};  // nobody has paused it or set its timer
  std::atomic<bool> running{false};
  std::atomic<std::uint64_t> runs{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::int64_t> ran_as{-1};
  std::uint64_t next_index = 0;
  std::uint64_t start = 0;  // of the executor, whose releases count from 0 each time
  // What a handler was told of them, on the threads that run it.
  std::uint64_t skipped = 0;
  std::uint64_t first_skipped = 0;
  std::uint64_t after_skipped = 0;

  [[nodiscard]] bool by_messages() const { return task.kind == sched::TaskKind::message; }

  // Whose job the calling thread has run last: handlers that belong to a job follow it there.
  static Guest*& last() {
    thread_local Guest* guest = nullptr;
    return guest;
  }

  void skips(const executor::Skip& skip) {
    check(ran_as == skip.task, task.name, "is told of another one's skips");
    check(skip.count > 0 && skip.first >= next_index, task.name, "skips what it has run");
    skipped += skip.count;
    first_skipped = skip.first;
    after_skipped = skip.first + skip.count;
  }

  void run(const sched::Job& job, std::uint64_t starts, Ledger& ledger) {
    const nanoseconds used = cpu_time();
    check(!removed, task.name, "runs after its removal");
    check(!running.exchange(true), task.name, "runs twice at once");
    if (starts != start) {
      start = starts;
      next_index = first_skipped = after_skipped = 0;
    }
    check(job.index < first_skipped || job.index >= after_skipped, task.name,
          "runs what it was told is skipped");
    check(job.index >= next_index, task.name, "runs for a release that is over");
    next_index = job.index + 1;
    ran_as = job.task;
    if (in_group != nullptr) {
      check(in_group->fetch_add(1) == 0, task.name, "runs while another one of its group does");
    }
    const auto end = os::now() + work;
    if (meanwhile) {
      meanwhile();
    }
    while (os::now() < end) {
    }
    if (in_group != nullptr) {
      --*in_group;
    }
    check(!removed, task.name, "runs on after its removal");
    running = false;
    ++runs;
    last() = this;
    ledger.saw({.task = task.name,
                .budget = task.parameters.budget,
                .job = job,
                .left = os::now(),
                .used = cpu_time() - used});
  }
};

// A front end that asks its executor when it is armed, as client libraries do.
class Source final : public executor::JobSource {
 public:
  Source(Guest& guest, std::function<void(const sched::Job&)> run,
         std::function<void(const executor::ReleaseHandle&)> ask)
      : guest_{guest}, run_{std::move(run)}, ask_{std::move(ask)} {}

  [[nodiscard]] sched::Task describe() const override { return guest_.task; }
  executor::Outcome run(const sched::Job& job) override {
    run_(job);
    return {};
  }
  void arm(const executor::ReleaseHandle& release) override {
    check(!armed_.exchange(true), guest_.task.name, "is armed twice");
    ask_(release);
  }
  void disarm() noexcept override { armed_ = false; }

 private:
  Guest& guest_;
  std::function<void(const sched::Job&)> run_;
  std::function<void(const executor::ReleaseHandle&)> ask_;
  std::atomic<bool> armed_{false};
};

}  // namespace takt::fuzz
