// SPDX-License-Identifier: Apache-2.0
//
// Recordings held against the simulator's decisions, and how many agree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "permitted.hpp"
#include "takt/analysis/analyse.hpp"

namespace takt::test {

inline constexpr std::size_t most_ways = 2000;  // that are tried for each order of a wait set

// As make_executor() has it.
inline std::string own_name(const Executor& executor) {
  return executor.name.substr(std::string{"rclcpp_"}.size());
}

// How many runs TAKT_RECORDED_RUNS asks for.
inline std::size_t asked_runs(std::size_t few) {
  const char* const asked = std::getenv("TAKT_RECORDED_RUNS");
  return asked == nullptr ? few : std::stoul(asked);
}

// What a recording is held to besides its order: the bounds on its responses, if a job takes as
// long as the longest recorded one did from when its group and a thread were free.
struct Bounds {
  std::size_t held = 0;
  std::size_t above = 0;
};

inline nanoseconds longest(const Recording& recording, std::size_t callback, const Events& events) {
  nanoseconds longest{0};
  for (const std::size_t job : events.jobs_of(callback)) {
    longest = std::max(longest, recording.jobs[job].published - events.could_begin(job));
  }
  return longest;
}

inline Bounds bounds_of(const Recording& recording, const Executor& executor) {
  const Events events{recording, executor, false};
  Recording as_long = recording;
  std::vector<std::size_t> order(recording.callbacks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const std::size_t callback : order) {
    as_long.callbacks[callback].execution = longest(recording, callback, events);
  }
  const auto report =
      analysis::analyse(described(as_long.callbacks, order, executor.name, executor.threads),
                        {.sensitivity = false, .proposals = false});
  Bounds bounds;
  for (const std::size_t callback : order) {
    const auto bound = report.scenarios.front().callbacks[callback].response;
    for (const std::size_t job : events.jobs_of(callback)) {
      const nanoseconds response = recording.jobs[job].published - events.released(job);
      bounds.held += bound ? 1 : 0;
      bounds.above += bound && response > *bound ? 1 : 0;
    }
  }
  return bounds;
}

// The jobs around one of them, for the reader of a failure. Times in us.
inline void print(const Recording& recording, std::size_t around) {
  const auto us = [&](TimePoint time) {
    return std::chrono::duration<double, std::micro>(time - recording.begin).count();
  };
  for (std::size_t i = 0; i < recording.callbacks.size(); ++i) {
    const Drawn& drawn = recording.callbacks[i];
    std::cout << "  callback " << i << (drawn.is_timer() ? " timer" : " hears ")
              << (drawn.is_timer() ? "" : std::to_string(drawn.trigger)) << " group " << drawn.group
              << (drawn.reentrant ? " reentrant" : "") << " execution "
              << drawn.execution.count() / 1000 << '\n';
  }
  for (std::size_t i = around > 12 ? around - 12 : 0;
       i < std::min(around + 5, recording.jobs.size()); ++i) {
    const RecordedJob& job = recording.jobs[i];
    std::cout << (i == around ? "> " : "  ") << "callback " << job.callback << " thread "
              << job.thread << " release " << us(job.release) << " start " << us(job.start)
              << " computed " << us(job.computed) << " published " << us(job.published) << '\n';
  }
}

// Of all runs under one executor.
struct Counts {
  std::size_t runs = 0;
  std::size_t overlap = 0;
  std::size_t jobs = 0;
  std::size_t outside = 0;  // jobs that another process released
  std::size_t among = 0;
  std::size_t races = 0;
  std::size_t in_looks = 0;
  std::size_t late = 0;
  std::size_t differ = 0;
  std::size_t waited = 0;
  Bounds bounds;

  void add(const Recording& recording, const Executor& executor, const std::string& run,
           std::size_t most = most_ways) {
    overlap += recording.overlaps() ? 1 : 0;
    const Permission answer = is_permitted(recording, executor, most);
    const bool whole = std::ranges::none_of(recording.callbacks, &Drawn::outside);
    const Bounds of_run = whole ? bounds_of(recording, executor) : Bounds{};
    ++runs;
    jobs += recording.jobs.size();
    const Events events{recording, executor, false};
    for (std::size_t job = 0; job < recording.jobs.size(); ++job) {
      waited += events.waited(job) > usual_race ? 1 : 0;
      outside += recording.callbacks[recording.jobs[job].callback].outside ? 1 : 0;
    }
    among += answer.among;
    races += answer.races > 0 ? 1 : 0;
    in_looks += answer.in_looks > 0 ? 1 : 0;
    late += answer.late ? 1 : 0;
    bounds.held += of_run.held;
    bounds.above += of_run.above;
    if (!answer.permitted) {
      ++differ;
      std::cout << run << ": " << answer.why << '\n';
      print(recording, answer.reached);
    }
  }

  void print_as(const std::string& name) const {
    std::cout << name << ": " << runs << " runs, " << jobs << " jobs, " << outside
              << " of them released by another process, " << among
              << " taken while several were ready; " << differ << " runs not permitted, "
              << runs - races - differ << " permitted as recorded, " << races
              << " with a race, of these " << in_looks << " within a look, " << late
              << " with something late; " << overlap << " runs with a callback twice at once; "
              << waited << " jobs that waited while their group and a thread were free; "
              << bounds.above << " of " << bounds.held << " responses above their bounds\n";
  }
};

}  // namespace takt::test
