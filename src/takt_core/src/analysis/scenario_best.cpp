// SPDX-License-Identifier: Apache-2.0
//
// The best cases of jobs beside others (docs/reference/analysis.md, eq. 44). A job that computes
// ends no sooner than all those above it that are sure to come while it is there: the least number
// of their releases, each with its shortest time (Redell & Sanfridson 2002).
#include <algorithm>
#include <span>
#include <vector>

#include "takt/analysis/scenario_model.hpp"
#include "takt/os/saturating.hpp"

namespace takt::analysis {
namespace {

// Evaluations of one demand, for all streams of a round.
constexpr std::int64_t most_steps = 2'000'000;

// Releases that come and lead to jobs, whatever happens.
struct SureReleases {
  sched::Level level = 0;
  nanoseconds period{0};
  nanoseconds first{0};   // the latest time of the first one, from the start of the executor
  nanoseconds jitter{0};  // a time of `period` + this contains one
  nanoseconds best{0};    // of a job

  // At least so many in a time that begins with the start, or whenever it may.
  [[nodiscard]] std::int64_t from_start(nanoseconds time) const noexcept {
    return time > first ? (time - first - nanoseconds{1}) / period + 1 : 0;
  }
  [[nodiscard]] std::int64_t within(nanoseconds time) const noexcept {
    return time > jitter ? (time - jitter) / period : 0;
  }
};

// What comes from outside, early, from a join, or in turn may stay away.
bool follows_time(const Stream& stream, const sched::Task& task) {
  return !stream.early && !stream.last && stream.join == nobody && stream.turns_of == nobody &&
         stream.called_by == nobody && task.kind == sched::TaskKind::timer;
}

// The least time from a release to the end that eq. 44 allows, at most `most`. Nothing of what is
// above is left when the job ends, so of each time before the end so much is not its own.
nanoseconds shortest_beside(nanoseconds best, std::span<const SureReleases> above, nanoseconds most,
                            std::int64_t& steps) {
  const auto with = [&](auto count) {
    nanoseconds sum = best;
    for (const SureReleases& releases : above) {
      sum = os::add_sat(sum, os::mul_sat(releases.best, count(releases)));
    }
    steps -= std::ssize(above);
    return std::min(sum, most);
  };
  // From the start of the executor to the end, at least: no time before the end is longer.
  nanoseconds end{0};
  for (nanoseconds next = best; next > end && steps > 0;) {
    end = next;
    next = with([end](const SureReleases& releases) { return releases.from_start(end); });
  }
  // From there down to the longest time which is not enough.
  while (steps > 0) {
    const nanoseconds before = end - nanoseconds{1};
    const nanoseconds next =
        with([before](const SureReleases& releases) { return releases.within(before); });
    if (next >= end) {
      return end;
    }
    end = next;
  }
  return best;
}

}  // namespace

// From the release to the end, at least.
nanoseconds ScenarioModel::earliest_end(std::size_t stream, const Earliest& job) const noexcept {
  return std::max(job.start + best_case(stream), job.release + best_responses_[stream]);
}

// Whether each release of the stream leads to a job: no other stream releases its callback, and it
// has ended before so many later ones come that one of them is dropped.
bool ScenarioModel::executes_all(std::size_t stream) const noexcept {
  const Stream& own = streams_[stream];
  const sched::Task& task = strategy_->tasks()[own.callback];
  const auto& parameters = scenario_->parameters(static_cast<sched::TaskIndex>(own.callback));
  const bool each = parameters.overrun == sched::Overrun::catch_up &&
                    task.parameters.overrun == sched::Overrun::catch_up;
  const std::optional<nanoseconds>& end = latencies_[stream];
  if (!end || streams_of_callback_[own.callback] != 1) {
    return false;
  }
  if (own.parent == nobody && each) {
    return true;
  }
  const auto kept = static_cast<std::int64_t>(each ? queues_[own.callback] : 1);
  return *end <=
         os::add_sat(os::mul_sat(demand(root_of(stream)).releases.period, kept), offset(stream));
}

// The latest time of the stream's first release that the core notices; nothing: some may stay away.
std::optional<nanoseconds> ScenarioModel::latest_first(std::size_t stream) const noexcept {
  const std::size_t root = root_of(stream);
  const sched::Task& task = strategy_->tasks()[streams_[root].callback];
  for (std::size_t i = stream; i != nobody; i = streams_[i].parent) {
    if (!executes_all(i)) {
      return {};
    }
  }
  const nanoseconds period = demand(root).releases.period;
  if (!follows_time(streams_[root], task) || period.count() <= 0 ||
      demand(stream).releases.period != period) {
    return {};
  }
  const auto& parameters =
      scenario_->parameters(static_cast<sched::TaskIndex>(streams_[root].callback));
  const nanoseconds offset =
      task.any_offset ? std::max(parameters.offset, period) : parameters.offset;
  const std::size_t parent = streams_[stream].parent;
  return offset + (parent == nobody ? nanoseconds{0} : *latencies_[parent]) + demand(stream).lag;
}

// Under preemptive fixed priorities, without a switch, after which a timer may come more rarely.
void ScenarioModel::find_best_cases() {
  best_responses_.assign(streams_.size(), nanoseconds{0});
  if (!has_messages_ || expects_switches_ || !scenario_->policy().preemptive()) {
    return;
  }
  std::vector<bool> releases(streams_.size());
  streams_of_callback_.assign(costs_.size(), 0);
  for (const Stream& stream : streams_) {
    ++streams_of_callback_[stream.callback];
    if (stream.parent != nobody) {
      releases[stream.parent] = true;
    }
  }
  std::int64_t steps = most_steps;
  for (std::size_t at = 0; at < cores_.size(); ++at) {
    const CoreDemands& core = cores_[at];
    if (test_on(at) != Test::fixed_priority || !keeps_order(at)) {
      continue;
    }
    std::vector<SureReleases> sure;
    for (const std::size_t stream : std::span{core.streams}.first(core.jobs)) {
      const Demand& demand = this->demand(stream);
      const std::optional<nanoseconds> first = latest_first(stream);
      if (first && best_case(stream).count() > 0) {
        const nanoseconds period = demand.releases.period;
        sure.push_back({.level = demand.level,
                        .period = period,
                        .first = *first,
                        .jitter = std::max(demand.releases.jitter + demand.lag,
                                           *first - period + nanoseconds{1}),
                        .best = best_case(stream)});
      }
    }
    for (const std::size_t stream : std::span{core.streams}.first(core.jobs)) {
      if (!releases[stream] || !latencies_[stream]) {
        continue;
      }
      const Demand& own = demand(stream);
      const nanoseconds most = *latencies_[stream] - offset(stream);
      std::vector<SureReleases> above;
      std::ranges::copy_if(sure, std::back_inserter(above), [&](const SureReleases& other) {
        return other.level > std::max(own.level, own.ceiling) && other.within(most) > 0;
      });
      if (!above.empty()) {
        best_responses_[stream] = shortest_beside(best_case(stream), above, most, steps);
      }
    }
  }
}

}  // namespace takt::analysis
