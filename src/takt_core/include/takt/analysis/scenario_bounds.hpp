// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a scenario's demands are made of, and what bounds them: streams of releases, calls, joins,
/// and the results of one round of a ScenarioModel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/analysis/core.hpp"
#include "takt/analysis/schedule_graph.hpp"

namespace takt::analysis {

/// No index.
inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

/// A source of releases of a callback: time, the environment, or the ends of another stream's jobs.
struct Stream {
  std::size_t callback = 0;  ///< Index of the released callback.
  /// The stream whose ends are the releases; nobody: time or the environment.
  std::size_t parent = nobody;
  /// Early releases that keep an age constraint, or what they release in turn.
  bool early = false;
  /// Early streams: the reader whose jobs each request one release.
  std::size_t asked_by = nobody;
  nanoseconds lead{0};  ///< Early streams: how long before the reader's release.
  /// The reader depends on this stream itself: no bound on the number of requests.
  bool circle = false;
  bool last = false;  ///< Released by its own messages, all of them, at their minimum distance.
  /// The join whose publications are the releases; nobody: none. It has no parent then.
  std::size_t join = nobody;
  std::size_t part = 0;  ///< Which of ScenarioModel::publications().
  /// The lane of a callback (sched/turns.hpp): the stream whose ends release the lanes in turn;
  /// nobody: none. It has no parent then.
  std::size_t turns_of = nobody;
  std::int64_t every = 1;  ///< It takes one of so many releases in a row.
  /// Of a server: the stream whose jobs call it, and wait meanwhile; nobody: none. It has no parent
  /// then.
  std::size_t called_by = nobody;
  std::size_t call = 0;  ///< The segment of those jobs that calls.

  /// The stream whose jobs release its own ones with their messages or calls; nobody: none, or a
  /// join.
  [[nodiscard]] std::size_t cause() const noexcept {
    if (parent != nobody) {
      return parent;
    }
    return turns_of != nobody ? turns_of : called_by;
  }
};

/// A call of a job, which waits for the response.
struct Call {
  std::size_t segment = 0;  ///< Its number among the segments of the job.
  std::size_t server = 0;   ///< The callback that answers; nobody: none here, without a bound.
};

/// A join (sched/join.hpp) in a scenario.
struct JoinModel {
  std::vector<std::size_t> callbacks = {};  ///< Those that form it.
  /// By callback of it: the streams that release that callback.
  std::vector<std::vector<std::size_t>> streams = {};
  /// The streams of callbacks with one stream, of which all releases are known.
  std::vector<std::size_t> single = {};
  /// Where several streams of one callback bound the publications: these.
  std::vector<std::size_t> several = {};
  nanoseconds period{0};  ///< Of the first of these streams; 0: nothing bounds the publications.
  bool followed = false;  ///< Its publications are among the streams.
  bool silent = false;    ///< It never publishes.
};

/// The schedule graph of one core.
struct CoreGraph {
  ScheduleGraph graph;                    ///< All schedules.
  std::vector<std::size_t> streams = {};  ///< By task of the graph.
};

/// When a schedule graph may be made, which can take seconds.
enum class Graphs : std::uint8_t {
  none,     ///< never, only the closed tests
  brief,    ///< if these fail and few states suffice: for analyses in large numbers
  verdict,  ///< if these fail
  witness,  ///< if these fail, with the run that misses a deadline
};

/// The results of ScenarioModel::solve().
struct ScenarioBounds {
  std::optional<bool> schedulable = {};  ///< Nothing: too much to compute, or no test.
  std::vector<CoreBounds> cores = {};    ///< In the order of ScenarioModel::cores().
  std::vector<Response> responses = {};  ///< By stream.
  /// By stream, from the release of the first callback of its chain to its end; empty if no message
  /// releases anything.
  std::vector<Response> latencies = {};
  /// By stream: the longest time for which its core is busy without a break, or is so with jobs of
  /// its level, of all that leads to it, and of what is above; nothing: not known. Empty if no
  /// message releases anything.
  std::vector<std::optional<nanoseconds>> busy = {};
  /// By stream: the most jobs in this time.
  std::vector<std::optional<std::int64_t>> jobs_while_busy = {};
  std::vector<std::optional<CoreGraph>> graphs = {};  ///< By core; nothing: not needed.
  bool converged = true;  ///< False: the jitters of a chain grow without end.
};

}  // namespace takt::analysis
