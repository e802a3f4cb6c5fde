// SPDX-License-Identifier: Apache-2.0
//
// Every run of a tiny application whose jobs call services and occupy a device, tick by tick, under
// fixed priorities that differ: timers begin in any phase, and each part of a job takes any time in
// its range. The device serves requests one after the other, in their order. Between processes each
// message, request and response takes the same time. It shares no code with the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "call_documents.hpp"

namespace takt::analysis {

struct TinyTask {
  int cpu = 0;
  int priority = 1;
  std::int64_t period = 0;       // 0: a server
  std::string service = {};      // that it answers
  std::vector<Part> parts = {};  // it computes, and calls or waits for the device, in turn
  int after = -1;                // the task whose ends release it
  std::string requests = {};     // at its end, without a wait
  int process = 0;
};

class EveryCall {
 public:
  // `head`: the task whose releases are followed to the ends of what they lead to. `way`: how long
  // everything takes to another process.
  explicit EveryCall(std::vector<TinyTask> tasks, std::size_t head = nobody, std::int64_t way = 0)
      : tasks_(std::move(tasks)), head_(head), way_(way) {}

  // Looks at up to `most` states; whether these are all.
  bool explore(std::size_t most) {
    longest_.assign(tasks_.size(), 0);
    latencies_.assign(tasks_.size(), 0);
    State state;
    state.resize(tasks_.size());
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
  // From the release of the head to the end of the task.
  [[nodiscard]] const std::vector<std::int64_t>& latencies() const { return latencies_; }

 private:
  static constexpr std::size_t nobody = 99;

  struct Job {
    std::int64_t age = 0;
    std::size_t client = nobody;  // which waits for its end
    std::size_t part = 0;
    std::int64_t left = 0;  // of the part; 0: not decided yet
    bool waits = false;
    std::int64_t origin = -1;  // since the release of the head from which it comes; -1: another
    std::int64_t arrives = 0;  // in so many ticks; those that have arrived are before the others
    std::int64_t back = 0;     // so many ticks until the response on its way has
  };
  struct Live {
    std::int64_t next = 0;  // ticks until the next release of a timer
    std::vector<Job> jobs = {};
  };
  struct Request {
    std::size_t task = 0;
    std::int64_t left = 0;  // 0: not decided yet
  };
  struct State : std::vector<Live> {
    std::vector<Request> device = {};
  };

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
              static_cast<std::size_t>(job.left), static_cast<std::size_t>(job.waits),
              static_cast<std::size_t>(job.origin + 1), static_cast<std::size_t>(job.arrives),
              static_cast<std::size_t>(job.back)}) {
          key += static_cast<char>(value);
        }
      }
    }
    for (const Request& request : state.device) {
      key += static_cast<char>(request.task);
      key += static_cast<char>(request.left);
    }
    if (known_.insert(std::move(key)).second) {
      left_.push_back(state);
    }
  }

  void step(State state) {
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      if (tasks_[task].period > 0 && state[task].next == 0) {
        state[task].jobs.push_back({.origin = task == head_ ? 0 : -1});
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
    if (!state.device.empty() && state.device.front().left == 0) {
      Request& request = state.device.front();
      const Part& part = tasks_[request.task].parts[state[request.task].jobs.front().part];
      for (request.left = part.shortest; request.left <= part.longest; ++request.left) {
        add(state);
      }
      return;
    }
    for (Live& live : state) {
      live.next -= live.next > 0 ? 1 : 0;
      for (Job& job : live.jobs) {
        ++job.age;
        job.origin += job.origin < 0 ? 0 : 1;
        job.arrives -= job.arrives > 0 ? 1 : 0;
        if (job.back > 0 && --job.back == 0) {
          go_on(job);
        }
      }
    }
    std::vector<std::size_t> done;
    for (const std::size_t task : running) {
      if (--state[task].jobs.front().left == 0) {
        done.push_back(task);
      }
    }
    if (!state.device.empty() && --state.device.front().left == 0) {
      Job& job = state[state.device.front().task].jobs.front();
      job.waits = false;
      ++job.part;
      state.device.erase(state.device.begin());
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
      const bool ready =
          !live.jobs.empty() && !live.jobs.front().waits && live.jobs.front().arrives == 0;
      if (tasks_[task].cpu == cpu && ready &&
          (first == nobody || tasks_[task].priority > tasks_[first].priority)) {
        first = task;
      }
    }
    return first;
  }

  static void go_on(Job& job) {
    job.waits = false;
    ++job.part;
  }

  [[nodiscard]] std::int64_t way(std::size_t from, std::size_t to) const {
    return tasks_[from].process == tasks_[to].process ? 0 : way_;
  }

  void send(State& state, std::size_t from, std::size_t to, Job job) const {
    std::vector<Job>& jobs = state[to].jobs;
    job.arrives = way(from, to);
    jobs.insert(std::ranges::upper_bound(jobs, job.arrives, {}, &Job::arrives), job);
  }

  // Of the first job of the task the part that it computes.
  void finish(State& state, std::size_t task) {
    Job& job = state[task].jobs.front();
    if (++job.part < tasks_[task].parts.size()) {
      const std::string& service = tasks_[task].parts[job.part].call;
      job.waits = true;
      if (service.empty()) {
        state.device.push_back({.task = task});
        return;
      }
      const auto server = std::ranges::find(tasks_, service, &TinyTask::service);
      send(state, task, static_cast<std::size_t>(server - tasks_.begin()),
           {.client = task, .origin = job.origin});
      return;
    }
    longest_[task] = std::max(longest_[task], job.age);
    latencies_[task] = std::max(latencies_[task], job.origin);
    for (std::size_t reader = 0; reader < tasks_.size(); ++reader) {
      if (std::cmp_equal(tasks_[reader].after, task)) {
        send(state, task, reader, {.origin = job.origin});
      }
    }
    if (!tasks_[task].requests.empty()) {
      const auto server = std::ranges::find(tasks_, tasks_[task].requests, &TinyTask::service);
      send(state, task, static_cast<std::size_t>(server - tasks_.begin()), {});
    }
    if (job.client != nobody) {
      Job& client = state[job.client].jobs.front();
      client.back = way(task, job.client);
      if (client.back == 0) {
        go_on(client);
      }
    }
    state[task].jobs.erase(state[task].jobs.begin());
  }

  std::vector<TinyTask> tasks_;
  std::size_t head_;
  std::int64_t way_;
  std::vector<std::int64_t> longest_;
  std::vector<std::int64_t> latencies_;
  std::unordered_set<std::string> known_;
  std::vector<State> left_;
};

}  // namespace takt::analysis
