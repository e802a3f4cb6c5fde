// SPDX-License-Identifier: Apache-2.0
//
// Follows messages from the job that made them to the jobs that used them: data freshness, data age
// and the latency of chains (Krukiewicz-Gacek, thesis (2021), sections 5.1, 5.4.3 and 5.5;
// docs/reference/metrics.md). Times in ns.
//
// An execution is on old data where it began after the job that made a newer message had ended, and
// used an older one: then the newer one was there to be delivered. (A message that a job makes is
// handed over before that job ends; while the job still runs, it may be on its way.)
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

// A job took the newest message that it has of a topic.
struct Use {
  std::uint64_t job = 0;
  std::int64_t time = 0;
  std::int64_t sequence = 0;    // of the message; below 0: it has none yet
  std::int64_t newest = -1;     // that was there when the job started; -1: none
  std::int64_t age = not_told;  // since the message was made, where the trace tells of both
  std::uint16_t task = no_task;
  std::uint16_t topic = no_topic;
  bool started = false;  // false: the start of the job was lost
};

// A datum, a release of the first callback of a chain, has reached an end of the last one.
struct Arrival {
  std::int64_t age = 0;              // from the release to this end
  std::int64_t reaction = not_told;  // to the first end of newer data, from the datum before it
  std::uint32_t chain = 0;
  bool first = false;  // of its datum: the age is its latency
};

// Of one task.
struct Executions {
  std::uint64_t all = 0;
  std::uint64_t on_old_data = 0;
};

class TAKT_CORE_PUBLIC Flows {
 public:
  using Chains = std::vector<std::vector<std::string>>;  // names of callbacks along each path

  explicit Flows(const About& about, const Chains& chains = {});

  void take(const Event& event);  // by time

  // In the order of time; whoever takes them empties the vectors.
  std::vector<Use> uses;
  std::vector<Arrival> arrivals;
  // From the end of a job to the start of the next on that core, which had been released before.
  std::vector<std::int64_t> handovers;

  [[nodiscard]] const std::map<std::uint16_t, Executions>& executions() const noexcept {
    return executions_;
  }

 private:
  // Where the data comes from that a job or a message carries, by chain and place in it: a release.
  using Origins = std::map<std::pair<std::size_t, std::size_t>, std::int64_t>;
  struct Message {
    std::int64_t made = 0;
    std::shared_ptr<const Origins> origins;
  };
  struct Messages {
    std::unordered_map<std::int64_t, Message> by_sequence;
    std::deque<std::int64_t> order;  // of their making
  };
  struct Running {
    std::uint64_t job = 0;
    std::vector<std::pair<std::uint16_t, std::int64_t>> newest;  // by topic, at the start
    std::shared_ptr<Origins> origins;
    std::vector<std::pair<std::uint16_t, std::int64_t>> made;  // topic, sequence
    bool old = false;
  };
  struct Place {
    std::size_t chain = 0;
    std::size_t place = 0;
    bool last = false;
  };
  struct OfCore {
    std::uint64_t running = 0;
    std::int64_t ended = not_told;
  };

  void start(const Event& event);
  void publish(const Event& event);
  void use(const Event& event);
  void end(const Event& event);
  void arrive(std::size_t chain, std::int64_t release, std::int64_t end);
  void is_there(std::uint16_t topic, std::int64_t sequence);
  [[nodiscard]] Running* running(const Event& event);
  [[nodiscard]] const std::vector<Place>& places(std::uint16_t task) const;

  std::map<std::uint16_t, std::vector<Place>> places_;
  std::vector<std::int64_t>
      last_;  // by chain: the release of the newest datum that reached its end
  std::map<std::uint16_t, Executions> executions_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, std::int64_t> released_;
  std::map<std::uint16_t, Running> running_;      // by task
  std::map<std::uint16_t, std::int64_t> newest_;  // by topic
  std::map<std::uint16_t, Messages> messages_;    // by topic
  std::map<std::uint16_t, OfCore> cores_;
};

}  // namespace takt::trace
