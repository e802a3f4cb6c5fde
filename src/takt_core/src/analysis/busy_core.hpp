// SPDX-License-Identifier: Apache-2.0
//
// How long a core is busy without a break, whatever the order of its jobs is, or how long jobs from
// a level on keep it busy (docs/reference/analysis.md, eq. 22). What its own jobs release counts
// with that which came from outside: so no jitter of messages on the core, and no bound of a
// response, is part of it. Of an executor with several threads: how long one or more of them run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "chain_paths.hpp"

namespace takt::analysis {

class BusyCore {
 public:
  // Both must outlive it. With a floor, of jobs that have this level or a higher one: it must be
  // one of closed_floors().
  BusyCore(const ScenarioModel& model, const ChainNet& net, std::size_t core,
           std::optional<sched::Level> floor = {});

  // By level of the core's jobs: the highest one that is not above it, such that no job from there
  // on is released by the end of a job below. The lowest level where it takes all jobs.
  static std::map<sched::Level, sched::Level> closed_floors(const ScenarioModel& model,
                                                            const ChainNet& net, std::size_t core);

  // The longest time; nothing if there is none, or `effort` is used up.
  [[nodiscard]] std::optional<nanoseconds> longest(Effort& effort) const;

  // By stream: how many jobs come while it is busy for so long, at most. Not of jobs below the
  // floor. A callback's streams count together. For a core that has a longest time.
  [[nodiscard]] std::map<std::size_t, std::int64_t> jobs(nanoseconds busy) const;

 private:
  // Where the jobs of a stream come from.
  enum class Source : std::uint8_t {
    outside,  // its releases are noticed by themselves: time, the environment, another core
    link,     // each job of the stream before releases one at once
    join,     // each publication of a join on this core releases one at once
    counted,  // the same publications, which another stream counts
  };
  struct Entry {
    std::size_t stream = 0;
    Source source = Source::outside;
    std::size_t before = 0;  // link: the index of that entry; join: of the join
    nanoseconds work{0};     // of one job
  };

  [[nodiscard]] std::vector<std::int64_t> count_jobs(nanoseconds busy) const;
  template <class Number, class Outside>
  bool count(std::vector<Number>& jobs, Outside outside, Number stored) const;
  template <class Number>
  std::optional<Number> publications(std::size_t join, const std::vector<Number>& jobs,
                                     std::size_t known, Number stored) const;
  [[nodiscard]] std::optional<double> share() const;

  const ScenarioModel& model_;
  const ChainCore& core_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> place_;  // by stream: the index of its entry
  nanoseconds blocking_{0};         // by a job below the floor
};

}  // namespace takt::analysis
