// SPDX-License-Identifier: Apache-2.0
//
// Every run of a tiny application whose jobs call services, tick by tick, under fixed priorities
// that differ: timers begin in any phase, and each part of a job takes any time in its range. It
// shares no code with the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "call_documents.hpp"

namespace takt::analysis {

struct TinyTask {
  int cpu = 0;
  int priority = 1;
  std::int64_t period = 0;       // 0: a server
  std::string service = {};      // that it answers
  std::vector<Part> parts = {};  // it computes and calls in turn
};

class EveryCall {
 public:
  explicit EveryCall(std::vector<TinyTask> tasks) : tasks_(std::move(tasks)) {}

  // Looks at up to `most` states; whether these are all.
  bool explore(std::size_t most) {
    longest_.assign(tasks_.size(), 0);
    State state{std::vector<Live>(tasks_.size())};
    begin(state, 0);
    while (!left_.empty() && known_.size() < most) {
      State next = std::move(left_.back());
      left_.pop_back();
      step(std::move(next));
    }
    return left_.empty();
  }

  // By task.
  [[nodiscard]] const std::vector<std::int64_t>& longest() const { return longest_; }

 private:
  static constexpr std::size_t nobody = 99;

  struct Job {
    std::int64_t age = 0;
    std::size_t client = nobody;  // which waits for its end
    std::size_t part = 0;
    std::int64_t left = 0;  // of the part; 0: not decided yet
    bool waits = false;
  };
  struct Live {
    std::int64_t next = 0;  // ticks until the next release of a timer
    std::vector<Job> jobs = {};
  };
  using State = std::vector<Live>;

  // Every phase of every timer.
  void begin(State& state, std::size_t task) {
    if (task == tasks_.size()) {
      add(state);
      return;
    }
    for (std::int64_t phase = 0; phase < std::max<std::int64_t>(tasks_[task].period, 1); ++phase) {
      state[task].next = phase;
      begin(state, task + 1);
    }
  }

  void add(const State& state) {
    std::string key;
    for (const Live& live : state) {
      key += static_cast<char>(live.next);
      key += static_cast<char>(live.jobs.size());
      for (const Job& job : live.jobs) {
        for (const auto value :
             {static_cast<std::size_t>(job.age), job.client, job.part,
              static_cast<std::size_t>(job.left), static_cast<std::size_t>(job.waits)}) {
          key += static_cast<char>(value);
        }
      }
    }
    if (known_.insert(std::move(key)).second) {
      left_.push_back(state);
    }
  }

  void step(State state) {
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      if (tasks_[task].period > 0 && state[task].next == 0) {
        state[task].jobs.emplace_back();
        state[task].next = tasks_[task].period;
      }
    }
    std::vector<std::size_t> running;
    for (int cpu = 0; cpu < 2; ++cpu) {
      if (const std::size_t task = first_on(state, cpu); task != nobody) {
        running.push_back(task);
      }
    }
    for (const std::size_t task : running) {
      Job& job = state[task].jobs.front();
      if (job.left > 0) {
        continue;
      }
      const Part& part = tasks_[task].parts[job.part];
      for (job.left = part.shortest; job.left <= part.longest; ++job.left) {
        add(state);
      }
      return;  // each goes on from here
    }
    for (Live& live : state) {
      live.next -= live.next > 0 ? 1 : 0;
      for (Job& job : live.jobs) {
        ++job.age;
      }
    }
    std::vector<std::size_t> done;
    for (const std::size_t task : running) {
      if (--state[task].jobs.front().left == 0) {
        done.push_back(task);
      }
    }
    // At one time the more urgent one asks first.
    std::ranges::sort(done, std::greater{},
                      [&](std::size_t task) { return tasks_[task].priority; });
    for (const std::size_t task : done) {
      finish(state, task);
    }
    if (std::ranges::all_of(state, [](const Live& live) { return live.jobs.size() < 4; })) {
      add(state);
    }
  }

  [[nodiscard]] std::size_t first_on(const State& state, int cpu) const {
    std::size_t first = nobody;
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      const Live& live = state[task];
      if (tasks_[task].cpu == cpu && !live.jobs.empty() && !live.jobs.front().waits &&
          (first == nobody || tasks_[task].priority > tasks_[first].priority)) {
        first = task;
      }
    }
    return first;
  }

  // Of the first job of the task the part that it computes.
  void finish(State& state, std::size_t task) {
    Job& job = state[task].jobs.front();
    if (++job.part < tasks_[task].parts.size()) {
      const std::string& service = tasks_[task].parts[job.part].call;
      const auto server = std::ranges::find(tasks_, service, &TinyTask::service);
      job.waits = true;
      state[static_cast<std::size_t>(server - tasks_.begin())].jobs.push_back({.client = task});
      return;
    }
    longest_[task] = std::max(longest_[task], job.age);
    if (job.client != nobody) {
      Job& client = state[job.client].jobs.front();
      client.waits = false;
      ++client.part;
    }
    state[task].jobs.erase(state[task].jobs.begin());
  }

  std::vector<TinyTask> tasks_;
  std::vector<std::int64_t> longest_;
  std::unordered_set<std::string> known_;
  std::vector<State> left_;
};

}  // namespace takt::analysis
