// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/schedule_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "graph_ancestry.hpp"
#include "graph_level.hpp"
#include "graph_messages.hpp"
#include "next_start.hpp"

namespace takt::analysis {
namespace {

class Explorer {
 public:
  Explorer(const sched::Policy& policy, std::span<const PeriodicTask> tasks,
           const GraphOptions& options)
      : tasks_(tasks),
        options_(options),
        starts_(policy, tasks),
        messages_(policy.order(), tasks),
        front_(messages_.size()),
        behind_(messages_.size()),
        visited_(messages_.size()),
        waiting_(tasks.size()) {
    result_.responses.resize(tasks.size());
    result_.exact = options.release_overhead.count() == 0 && !messages_.any() &&
                    (policy.work_conserving() ||
                     std::ranges::all_of(tasks, [](const auto& t) { return t.lag.count() == 0; }));
  }

  ScheduleGraph run() {
    if (!find_hyperperiod()) {
      return std::move(result_);
    }
    keep(behind_, {.since = at(nanoseconds{-1})}, messages_.start(), {});
    result_.outcome = ScheduleGraph::Outcome::met;
    for (std::size_t level = 0; result_.outcome == ScheduleGraph::Outcome::met; ++level) {
      if (level >= first_cut_ && (level - first_cut_) % jobs_ == 0) {
        forget_visited((level - first_cut_) / jobs_);
      }
      std::swap(front_, behind_);
      behind_.clear();
      if (front_.vertices().empty()) {
        break;
      }
      for (std::size_t i = 0; i < front_.vertices().size(); ++i) {
        if (result_.vertices > options_.most_vertices || Interruptible::interrupted()) {
          result_.outcome = ScheduleGraph::Outcome::unknown;
          result_.reason = "the schedules that are possible have more than " +
                           std::to_string(options_.most_vertices) + " states";
          break;
        }
        if (!follow(i)) {
          break;
        }
      }
    }
    return std::move(result_);
  }

 private:
  bool find_hyperperiod() {
    constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max() / 16;
    std::int64_t multiple = 1;
    nanoseconds offset{0};
    for (const PeriodicTask& task : tasks_) {
      if (task.writer) {
        continue;
      }
      const std::int64_t period = task.first.period.count();
      const std::int64_t factor = period / std::gcd(multiple, period);
      multiple = multiple > longest / factor ? longest : multiple * factor;
      offset = std::max(offset, task.first.release.time_since_epoch());
    }
    double jobs = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      jobs += static_cast<double>(multiple) /
              static_cast<double>(tasks_[messages_.root(i)].first.period.count());
    }
    if (multiple == longest || jobs > static_cast<double>(options_.most_vertices)) {
      result_.reason = "more than " + std::to_string(options_.most_vertices) +
                       " jobs are released before the timers repeat themselves";
      return false;
    }
    hyperperiod_ = nanoseconds{multiple};
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const PeriodicTask& task = tasks_[messages_.root(i)];
      jobs_of_.push_back(hyperperiod_ / task.first.period);
      jobs_ += static_cast<std::size_t>(jobs_of_.back());
      const nanoseconds late = offset - task.first.release.time_since_epoch();
      first_cut_ +=
          static_cast<std::size_t>((late + task.first.period - nanoseconds{1}) / task.first.period);
    }
    return true;
  }

  // A hyperperiod later everything repeats itself: what has been there needs no second look.
  void forget_visited(std::size_t rounds) {
    const nanoseconds shift = static_cast<std::int64_t>(rounds) * hyperperiod_;
    std::swap(front_, behind_);
    behind_.clear();
    std::vector<std::int64_t> started;
    for (std::size_t i = 0; i < front_.vertices().size(); ++i) {
      Vertex vertex = front_.vertices()[i];
      started.assign(front_.started(i).begin(), front_.started(i).end());
      for (std::size_t task = 0; task < tasks_.size(); ++task) {
        started[task] -= static_cast<std::int64_t>(rounds) * jobs_of_[task];
      }
      vertex.earliest -= shift;
      vertex.latest -= shift;
      vertex.since -= options_.release_overhead.count() == 0 ? nanoseconds{0} : shift;
      if (!visited_.covers(vertex, started)) {
        visited_.add(vertex, started);
        behind_.add(front_.vertices()[i], front_.started(i));
      }
    }
  }

  // False when a deadline is missed.
  bool follow(std::size_t index) {
    const Vertex vertex = front_.vertices()[index];
    std::vector<std::int64_t>& started = scratch_;
    started.assign(front_.started(index).begin(), front_.started(index).end());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      Job& job = waiting_[i];
      job = tasks_[i].first;
      job.index += static_cast<std::uint64_t>(started[i]);
      job.release = release_of(i, started);
      job.deadline += started[i] * job.period;
    }
    // Somebody may be kept back for ever, and never start at all.
    for (const Job& job : waiting_) {
      if (is_late(job, vertex.latest + tasks_[job.task].worst, started)) {
        miss(vertex, {.task = job.task, .first = vertex.latest, .last = vertex.latest});
        return false;
      }
    }
    const std::span<const Waited> messages = messages_.waits(started);
    const std::span<const Start> starts =
        messages.empty() ? starts_.find(waiting_, vertex.earliest, vertex.latest)
                         : starts_.find(waiting_, messages, vertex.earliest, vertex.latest);
    for (const Start& start : starts) {
      const PeriodicTask& task = tasks_[start.task];
      const Job& job = waiting_[start.task];
      const TimePoint end = start.last + task.worst + overhead(start, vertex);
      nanoseconds& response = result_.responses[start.task];
      response = std::max(response, response_of(job, end, started));
      if (is_late(job, end, started)) {
        miss(vertex, start);
        return false;
      }
      after_ = started;
      if (!messages_.run(after_, start.task)) {
        result_.outcome = ScheduleGraph::Outcome::unknown;
        result_.reason = "more messages may wait than their topics keep";
        return false;
      }
      keep(behind_, {.earliest = start.first + task.best, .latest = end, .since = start.first},
           after_, {.parent = &vertex, .start = &start});
    }
    return true;
  }

  // Of the first job of the task that has not started. A message that waits has been there since
  // before the core got free.
  [[nodiscard]] TimePoint release_of(std::size_t task,
                                     std::span<const std::int64_t> started) const {
    const Job& first = tasks_[task].first;
    if (!tasks_[task].writer) {
      return first.release + started[task] * first.period;
    }
    return messages_.waited(started, task) ? TimePoint{} : TimePoint::max();
  }

  [[nodiscard]] nanoseconds response_of(const Job& job, TimePoint end,
                                        std::span<const std::int64_t> started) const {
    return tasks_[job.task].writer ? *messages_.waited(started, job.task) + tasks_[job.task].worst
                                   : end - job.release;
  }

  [[nodiscard]] bool is_late(const Job& job, TimePoint end,
                             std::span<const std::int64_t> started) const {
    if (job.release == TimePoint::max()) {
      return false;
    }
    const Job& first = tasks_[job.task].first;
    return response_of(job, end, started) > first.deadline - first.release;
  }

  // The releases that may have been noticed since somebody started.
  [[nodiscard]] nanoseconds overhead(const Start& start, const Vertex& vertex) const {
    if (options_.release_overhead.count() == 0) {
      return nanoseconds{0};
    }
    const auto releases = std::ranges::count_if(waiting_, [&](const Job& job) {
      return job.release <= start.last && job.release + tasks_[job.task].lag > vertex.since;
    });
    return releases * options_.release_overhead;
  }

  struct Origin {
    const Vertex* parent = nullptr;
    const Start* start = nullptr;
  };

  void keep(Level& level, Vertex vertex, std::span<const std::int64_t> started,
            const Origin& origin) {
    const TimePoint end = vertex.latest;
    vertex.quiet = TimePoint::max();
    TimePoint unnoticed = TimePoint::max();
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const TimePoint release = release_of(i, started);
      vertex.quiet = std::min(vertex.quiet, release);
      if (release != TimePoint::max()) {
        unnoticed = std::min(unnoticed, release + tasks_[i].lag);
      }
    }
    // Whatever makes no difference is said in the same way, so that more is the same.
    vertex.earliest = std::max(vertex.earliest, vertex.quiet);
    vertex.latest = std::max(vertex.latest, vertex.quiet);
    vertex.since = options_.release_overhead.count() == 0
                       ? TimePoint{}
                       : std::max(vertex.since, unnoticed - nanoseconds{1});
    vertex.id = static_cast<std::uint32_t>(result_.vertices);
    const std::optional<std::uint32_t> merged = level.merge(vertex, started);
    if (!merged) {
      ++result_.vertices;
    }
    if (!options_.witness) {
      return;
    }
    if (!merged) {
      ancestry_.add(vertex);
    } else {
      ancestry_.widen(*merged, vertex);
    }
    if (origin.parent != nullptr) {
      ancestry_.link(merged.value_or(vertex.id), origin.parent->id, *origin.start, end);
    }
  }

  void miss(const Vertex& vertex, const Start& start) {
    result_.outcome = ScheduleGraph::Outcome::missed;
    if (!options_.witness) {
      return;
    }
    result_.witness = ancestry_.run_to(vertex.id, start.last, tasks_);
    result_.witness.push_back({.task = start.task,
                               .start = start.last.time_since_epoch(),
                               .execution = tasks_[start.task].worst});
    std::vector<std::uint64_t> counts(tasks_.size(), 0);
    for (PlacedJob& job : result_.witness) {
      const Job& first = tasks_[job.task].first;
      job.index = counts[job.task]++;
      job.release =
          first.release.time_since_epoch() + static_cast<std::int64_t>(job.index) * first.period;
    }
    if (const auto waited =
            tasks_[start.task].writer ? messages_.waited(scratch_, start.task) : std::nullopt) {
      result_.witness.back().release = result_.witness.back().start - *waited;
    }
  }

  std::span<const PeriodicTask> tasks_;
  const GraphOptions& options_;
  NextStart starts_;
  GraphMessages messages_;
  Level front_;
  Level behind_;   // the vertices of the next level
  Level visited_;  // at the cuts, shifted into the first hyperperiod
  Ancestry ancestry_;
  std::vector<Job> waiting_;  // the first job of each task that has not started
  std::vector<std::int64_t> scratch_;
  std::vector<std::int64_t> after_;
  nanoseconds hyperperiod_{0};
  std::vector<std::int64_t> jobs_of_;  // of each task in a hyperperiod
  std::size_t jobs_ = 0;               // of all
  std::size_t first_cut_ = 0;          // jobs before all timers have begun
  ScheduleGraph result_;
};

}  // namespace

ScheduleGraph explore(const sched::Policy& policy, std::span<const PeriodicTask> tasks,
                      const GraphOptions& options) {
  if (tasks.empty()) {
    return {.outcome = ScheduleGraph::Outcome::met, .exact = true};
  }
  std::vector<PeriodicTask> numbered{tasks.begin(), tasks.end()};
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    numbered[i].first.task = static_cast<sched::TaskIndex>(i);
  }
  return Explorer{policy, numbered, options}.run();
}

}  // namespace takt::analysis
