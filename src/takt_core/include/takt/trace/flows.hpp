// SPDX-License-Identifier: Apache-2.0
/// @file
/// Follows messages from the job that made them to the jobs that used them: data freshness, data
/// age and the latency of chains (Krukiewicz-Gacek, thesis (2021), sections 5.1, 5.4.3 and 5.5;
/// docs/reference/metrics.md). All times are nanoseconds.
///
/// A job runs on old data if it started after the end of the job that made a newer message, and
/// used an older one: the newer message was there to be delivered. (A message is handed over before
/// the job that makes it ends; while that job still runs, the message may be on its way.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "takt/trace/event.hpp"
#include "takt/trace/timeline.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

/// A job used the newest message that it had of a topic.
struct Use {
  std::uint64_t job = 0;            ///< Index of the release.
  std::int64_t time = 0;            ///< When it used the message.
  std::int64_t sequence = 0;        ///< Of the message; below 0: no message yet.
  std::int64_t newest = -1;         ///< The newest at the start of the job; -1: none.
  std::int64_t age = not_recorded;  ///< Since the message was made, if the trace has both events.
  std::uint16_t task = no_task;     ///< The task that used it.
  std::uint16_t topic = no_topic;   ///< The topic of the message.
  bool started = false;             ///< False: the trace lacks the start of the job.
};

/// A datum, which is a release of the first callback of a chain, has reached an end of the last
/// one.
struct Arrival {
  std::int64_t age = 0;  ///< From the release to this end.
  std::int64_t reaction =
      not_recorded;          ///< From the previous datum to the first end of newer data.
  std::int64_t release = 0;  ///< Of the job that the datum began with.
  std::uint32_t chain = 0;   ///< Index of the chain.
  bool first = false;        ///< The first arrival of its datum: the age is its latency.
};

/// Jobs of one task.
struct Executions {
  std::uint64_t all = 0;          ///< All that have started.
  std::uint64_t on_old_data = 0;  ///< Of these: on old data.
};

/// Derives uses and arrivals from the events of a trace. Not thread-safe.
class TAKT_CORE_PUBLIC Flows {
 public:
  /// The names of the callbacks along each path.
  using Chains = std::vector<std::vector<std::string>>;

  /// The names of the callbacks of each join (sched/join.hpp).
  using Joins = std::vector<std::vector<std::string>>;

  /// Prepares for a trace. Chains with unknown callbacks have no arrivals.
  explicit Flows(const About& about, const Chains& chains = {}, const Joins& joins = {});

  /// Processes the next event, in the order of time.
  void take(const Event& event);

  /// In the order of time. The reader of the vector should empty it now and then.
  std::vector<Use> uses;
  /// In the order of time; to be emptied likewise.
  std::vector<Arrival> arrivals;
  /// Durations from the end of a job to the start of the next on that core, if that was released
  /// before.
  std::vector<std::int64_t> handovers;

  /// By task.
  [[nodiscard]] const std::map<std::uint16_t, Executions>& executions() const noexcept {
    return executions_;
  }

 private:
  // Where the data comes from that a job or a message carries, by chain and place in it: a release.
  using Origins = std::map<std::pair<std::size_t, std::size_t>, std::int64_t>;
  struct Message {
    std::int64_t published = 0;
    std::shared_ptr<const Origins> origins;
  };
  struct Messages {
    std::unordered_map<std::int64_t, Message> by_sequence;
    std::deque<std::int64_t> order;  // of their making
  };
  struct Running {
    std::vector<std::pair<std::uint16_t, std::int64_t>> newest;  // by topic, at the start
    std::shared_ptr<Origins> origins;
    std::vector<std::pair<std::uint16_t, std::int64_t>> published;  // topic, sequence
    bool old = false;
  };
  struct Place {
    std::size_t chain = 0;
    std::size_t place = 0;
    bool last = false;
  };
  struct OfCore {
    std::uint64_t running = 0;
    std::int64_t ended = not_recorded;
  };

  void start(const Event& event);
  void publish(const Event& event);
  void use(const Event& event);
  void end(const Event& event);
  void drop_lost(std::uint16_t task);
  void arrive(std::size_t chain, std::int64_t release, std::int64_t end);
  void is_there(std::uint16_t topic, std::int64_t sequence);
  [[nodiscard]] Running* running(const Event& event);
  [[nodiscard]] const std::vector<Place>& places(std::uint16_t task) const;

  void store(std::uint16_t task, const Origins& origins);

  std::map<std::uint16_t, std::vector<Place>> places_;
  std::map<std::uint16_t, std::size_t> join_of_;  // by task
  std::vector<Origins> stored_;                   // by join: what its callbacks' last jobs left
  std::vector<std::int64_t>
      last_;  // by chain: the release of the newest datum that reached its end
  std::map<std::uint16_t, Executions> executions_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::int64_t> released_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, Running> running_;  // by task and job
  std::map<std::uint16_t, std::int64_t> newest_;                        // by topic
  std::map<std::uint16_t, Messages> messages_;                          // by topic
  std::map<std::uint16_t, OfCore> cores_;
};

}  // namespace takt::trace
