// SPDX-License-Identifier: Apache-2.0
//
// Bounds along the path of data: latencies of chains, and ages of data that is read.
#pragma once

#include <vector>

#include "bounds.hpp"
#include "cause.hpp"
#include "takt/analysis/report.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

class Paths {
 public:
  // `varies`: by callback, whether its level may be below that of the model; empty: no callback's.
  Paths(const application::Application& application, const sched::CompiledStrategy& strategy,
        const sched::CompiledScenario& scenario, const ScenarioModel& model,
        const ScenarioBounds& bounds, std::vector<bool> varies = {});

  [[nodiscard]] ChainReport chain(const application::Chain& chain) const;
  [[nodiscard]] AgeReport age(const sched::AgeConstraint& constraint) const;

  using Gap = application::Gap;
  // Of what the callback publishes, by itself or with its join. None: no bound.
  [[nodiscard]] std::optional<Gap> gap_of_messages(std::size_t callback) const;

 private:
  // The longest response over all that releases the callback; none: no bound, or never released.
  [[nodiscard]] std::optional<nanoseconds> response(std::size_t callback) const;
  // The longest time between two of its releases; `from_start`: also from the start to the first
  // one, which may be far away. None: no bound.
  [[nodiscard]] std::optional<nanoseconds> gap(std::size_t callback, bool from_start = false) const;
  // Until the timer is released first, at the latest.
  [[nodiscard]] nanoseconds latest_first(std::size_t timer) const;
  // Of the ends of a callback's jobs; of the publications of a join. None: no bound. `entered`:
  // joins that are looked at, by index.
  [[nodiscard]] std::optional<Gap> gap_of_ends(std::size_t callback,
                                               std::vector<bool>& entered) const;
  [[nodiscard]] std::optional<Gap> gap_of_publications(std::size_t join,
                                                       std::vector<bool>& entered) const;
  // Of what releases the first callback of a chain of streams.
  [[nodiscard]] std::optional<Gap> gap_of_source(const Stream& source,
                                                 std::vector<bool>& entered) const;
  // From the end of the callback's job to the publication of its join with that job's message,
  // unless a newer one replaces it. `always_new`: each of its jobs has data of its own.
  [[nodiscard]] std::optional<nanoseconds> wait_in_join(std::size_t callback,
                                                        bool always_new) const;
  // A chain of messages through joins that never leaves its core, by the busy periods of the core:
  // of a message that arrives, and until the last callback, or the last join (`published`), has
  // this data or newer. None: no such chain, or no bound.
  struct BusyPath {
    // A busy period that takes all of it: the longest of its callbacks and of those of its joins.
    std::optional<nanoseconds> busy = nanoseconds{0};
    // A join, and how the path goes on when it publishes.
    struct Hop {
      Cause others;              // of the next jobs of all its other callbacks
      std::optional<Cause> own;  // of the next job of the path's, which has newer data
      bool together;             // all follow from releases at the same times, one in a busy period
      bool one_timer;            // and of one timer, whatever its offset is
    };
    std::vector<Hop> hops = {};
    bool held = false;     // a callback goes on with older data for messages of others
    bool fresh = false;    // no data is lost, and each job has newer data than the one before
    bool offsets = false;  // those of timers make the bounds less
    nanoseconds latency{0};
    nanoseconds reaction{0};  // from the release of data to when it, or newer data, has arrived
  };
  // The longest busy period of the callback's core, or of the levels from the callback's on that
  // takes all that leads to it; of all callbacks of the join. None: no bound.
  [[nodiscard]] std::optional<nanoseconds> busy(std::size_t callback) const;
  [[nodiscard]] std::optional<nanoseconds> busy_of_join(std::size_t join) const;
  [[nodiscard]] std::optional<BusyPath> busy_path(const application::Chain& chain) const;
  bool add_hop(BusyPath& path, std::size_t callback, bool always_new) const;
  void bound_busy_path(BusyPath& path, std::size_t first) const;
  static void follow_busy_path(BusyPath& path, nanoseconds released, nanoseconds busy, bool phased);
  // Whether the timer has its declared offset from the start of this scenario for ever.
  [[nodiscard]] bool keeps_offset(std::size_t timer) const;
  // The timer at whose releases all callbacks of the join are released, and at no other time, if
  // only one of them comes in a busy period: each completes the set. It may be one of several with
  // the same releases.
  struct CommonTimer {
    std::size_t timer;
    Gap gap;
    bool one_timer;  // it is the only one
  };
  [[nodiscard]] std::optional<CommonTimer> common_timer(std::size_t join, std::size_t core,
                                                        std::vector<bool>& entered) const;
  // A release whose busy period does not end before the callback has ended a job. None: no bound,
  // or not all of it is on this core.
  [[nodiscard]] std::optional<Cause> next_cause(std::size_t callback,
                                                std::vector<bool>& entered) const;
  // Whether the stream's jobs come at once, and those that lead to it on the same core.
  [[nodiscard]] bool stays_on_core(std::size_t stream) const;
  void take_busy_path(const application::Chain& chain, ChainReport& report) const;
  // Whether all messages of the topic are publications of the join.
  [[nodiscard]] bool is_only_writer(const std::string& topic, std::size_t join) const;
  // Whether a release may lead to no job, because the previous job has not ended, or because the
  // message is overwritten before its job has read it.
  [[nodiscard]] bool may_drop(std::size_t callback) const;
  [[nodiscard]] bool takes_each(std::size_t callback) const;
  // Why no data passes the chain, or why it may be lost before a callback's job reads it; empty: it
  // is not.
  [[nodiscard]] std::string loss_on(const application::Chain& chain) const;
  [[nodiscard]] std::string loss_before(std::size_t callback) const;
  // From the release until the job has taken its message, at most: until its end, or of a reentrant
  // callback until its start. None: no bound.
  [[nodiscard]] std::optional<nanoseconds> until_taken(std::size_t callback) const;
  // Says in the report why the chain has no latency, where the reason is known.
  void explain_without_bound(const application::Chain& chain, ChainReport& report) const;
  // As may_drop() for a stream whose jobs lead to this stream's.
  [[nodiscard]] bool may_drop_upstream(std::size_t stream) const;
  // Whether a job of the stream ends before the message comes that its chain sends so many
  // instances later.
  [[nodiscard]] bool ends_before_message(std::size_t stream, std::size_t later) const;
  [[nodiscard]] Bound end_after_message(std::span<const std::size_t> streams,
                                        std::size_t later) const;
  // The most messages of a topic within a window, from all callbacks except `but`; none: no bound.
  [[nodiscard]] std::optional<std::int64_t> messages(const std::string& topic, nanoseconds window,
                                                     std::size_t but) const;
  [[nodiscard]] std::size_t depth(const std::string& topic) const;
  // Whether the reader's job finds the newest message that `writer` published, if it has not read
  // it before: others may overwrite it.
  [[nodiscard]] bool is_read(const std::string& topic, std::size_t writer,
                             std::size_t reader) const;

  // A job of `first`, and one of `then` that is released when it is noticed or later: whether the
  // first one always ends before the other one starts.
  [[nodiscard]] bool ends_first(std::size_t first, std::size_t then) const;
  // The same, whenever the other one was released.
  [[nodiscard]] bool always_first(std::size_t first, std::size_t then) const;
  [[nodiscard]] nanoseconds lag(std::size_t callback) const {
    return application_.callbacks[callback].jitter;
  }
  // From the release of the first stream of its chain to the end of this one's job.
  [[nodiscard]] std::optional<nanoseconds> latency(std::size_t stream) const;
  // From a release of the callback until it is noticed; none: no bound.
  [[nodiscard]] std::optional<nanoseconds> noticed(std::size_t callback) const;
  [[nodiscard]] bool kept_by_early_releases(const sched::AgeConstraint& constraint) const;
  [[nodiscard]] std::optional<nanoseconds> kept_age(const sched::AgeConstraint& constraint) const;
  [[nodiscard]] nanoseconds longest_use(const sched::AgeConstraint& constraint) const;
  [[nodiscard]] std::optional<nanoseconds> age_by(std::size_t stream, sched::TaskIndex reader,
                                                  std::string& bound_by) const;
  [[nodiscard]] std::optional<nanoseconds> way(std::size_t stream) const;

  // Of data that a join publishes, when its reader starts.
  struct JoinedAge {
    std::optional<nanoseconds> age = {};
    std::string_view by;
  };
  // `stream`: whose jobs write what is read, behind the join; nobody: the join itself.
  [[nodiscard]] JoinedAge joined_age(std::size_t join, std::size_t stream) const;
  enum class Publication : std::uint8_t { own, next };
  // From the sampling of the oldest data of a publication to that, or to the next one; to the end
  // of the stream's job that has the data of that. None: no bound. `entered`: joins that are looked
  // at, by index.
  [[nodiscard]] std::optional<nanoseconds> age_of_publication(std::size_t join, Publication which,
                                                              std::vector<bool>& entered) const;
  // The same for what this stream has left in the join of its callback.
  [[nodiscard]] std::optional<nanoseconds> age_of_stored(std::size_t callback, std::size_t stream,
                                                         Publication which,
                                                         std::vector<bool>& entered) const;
  [[nodiscard]] std::optional<nanoseconds> age_at_end(std::size_t stream, Publication which,
                                                      std::vector<bool>& entered) const;
  // The same by the busy periods of one core: from the sampling to a release whose busy period does
  // not end before that.
  [[nodiscard]] std::optional<nanoseconds> cause_of_publication(std::size_t join, std::size_t core,
                                                                Publication which,
                                                                std::vector<bool>& entered) const;
  [[nodiscard]] std::optional<nanoseconds> cause_of_end(std::size_t stream, std::size_t core,
                                                        Publication which,
                                                        std::vector<bool>& entered) const;
  // Of the callbacks of a join, without one of them (nobody: of all): the longest time between two
  // of their ends.
  [[nodiscard]] std::optional<nanoseconds> longest_gap(std::size_t join, std::size_t but) const;
  // The last next_cause() of all callbacks of a join except `but` (nobody: of all).
  [[nodiscard]] std::optional<Cause> next_causes(std::size_t join, std::size_t core,
                                                 std::size_t but, std::vector<bool>& entered) const;

  // A chain as far as it was followed. A stretch is a head that time (or another topic) releases,
  // and what its messages release.
  struct Walk {
    std::size_t head = 0;
    std::size_t before = 0;                   // the last callback
    std::size_t received = nobody;            // the first one, of data that comes from elsewhere
    std::optional<nanoseconds> stretch = {};  // release of the head to the end of the last
    // To the first end of the last: of several messages of a job the first one comes first.
    std::optional<nanoseconds> soonest = {};
    // The streams of the head, and what the messages of each release here; empty where others
    // release a callback of the stretch as well.
    std::vector<std::size_t> heads = {};
    std::vector<std::size_t> ends = {};
    // From the release of the head to that of these, which are jobs of a server; 0: they are its
    // own.
    std::optional<nanoseconds> called = nanoseconds{0};
    bool waits = false;  // the bound of a server's client is in it
    bool lost = false;   // what a job of the stretch is for may get lost
    By by = By::test;    // of the first end: the sum of responses, or the chain as a whole
    std::optional<nanoseconds> latency = nanoseconds{0};  // to the release of the head
    std::optional<nanoseconds> age = nanoseconds{0};      // the same backwards
    bool held = false;       // the age has counted that data of the head stays until the next comes
    bool overtaken = false;  // a reentrant callback is on the stretch: older data may come last
    // From the first newer data until there is nothing else, where data is overtaken.
    std::optional<nanoseconds> behind = nanoseconds{0};
    bool direct = true;         // each job has newer data of the first callback than the job before
    std::size_t join = nobody;  // the last one on the way
    std::string overwritten = {};  // the topic whose other writers may take its data away
  };
  bool extend(Walk& walk, std::size_t callback) const;
  bool pass_join(Walk& walk, std::size_t callback) const;
  // Goes on to a callback that reads, when its own time has come, what the one before writes.
  void sample(Walk& walk, std::size_t callback) const;
  // Until newer data alone is used, where older data may come last.
  void leave_overtaken(const application::Chain& chain, const Walk& walk,
                       ChainReport& report) const;
  void begin_stretch(Walk& walk, std::size_t head) const;
  // Whether jobs of the one call the other one.
  [[nodiscard]] bool calls(std::size_t client, std::size_t server) const;
  // Goes on to the server that the one before calls.
  void follow_call(Walk& walk, std::size_t server) const;
  // Goes on to a callback that messages of the one before release.
  void lengthen(Walk& walk, std::size_t callback) const;
  // Accounts for data of the head that is used until the next data has arrived the same way; when
  // that comes from elsewhere, the robot counts (RobotChains::age()).
  void hold(Walk& walk) const;
  // Whether jobs other than those of `writer` release it as well.
  [[nodiscard]] bool is_released_by_others(std::size_t callback, std::size_t writer) const;

  const application::Application& application_;
  const sched::CompiledStrategy& strategy_;
  const sched::CompiledScenario& scenario_;
  const ScenarioModel& model_;
  const ScenarioBounds& bounds_;
  std::vector<bool> varies_;
  std::vector<std::vector<std::size_t>> streams_;  // by callback
};

}  // namespace takt::analysis
