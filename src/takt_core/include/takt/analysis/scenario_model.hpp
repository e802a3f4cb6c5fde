// SPDX-License-Identifier: Apache-2.0
/// @file
/// One scenario of an application as demands on cores. Time releases timers; the ends of the jobs
/// that write a topic release a message task, so it inherits their period, and as jitter the
/// variation of their ends (holistic analysis, Tindell & Clark 1994): the bounds of one round give
/// the jitters of the next, until a fixed point is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/analysis/core.hpp"
#include "takt/analysis/scenario_bounds.hpp"
#include "takt/analysis/supply.hpp"
#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

struct ChainNet;
class PathLatencies;

/// The demands of one scenario and their fixed point. Not thread-safe.
class TAKT_CORE_PUBLIC ScenarioModel {
 public:
  /// The demands on one core.
  struct CoreDemands {
    int cpu = 0;                       ///< Number of the CPU.
    std::vector<Demand> demands;       ///< Demand::task is the index of the callback.
    std::vector<std::size_t> streams;  ///< By demand; nobody: an interrupt.
    /// Demands before the interrupts: of releases, which follow in the same order, then declared
    /// ones.
    std::size_t jobs = 0;
    Supply supply = {};      ///< What the core provides.
    bool entangled = false;  ///< Its jobs may be delayed without a known bound: no bounds.
  };

  /// Builds the demands. `strategy` and `scenario` must outlive the model.
  ScenarioModel(const application::Application& application,
                const sched::CompiledStrategy& strategy, const sched::CompiledScenario& scenario);

  /// The scenario stands for several, between which timers may change their periods at any time:
  /// from now on none of their releases is sure to come (docs/reference/analysis.md, eq. 44).
  void expect_switches() noexcept { expects_switches_ = true; }

  /// The test of the scenario's policy.
  [[nodiscard]] Test test() const noexcept { return test_; }

  /// The test of a core. Under policies that leave cores idle on purpose it is that of the same
  /// order without idling, as long as this one keeps every deadline there: then the core is never
  /// left idle (docs/reference/analysis.md, eq. 35).
  [[nodiscard]] Test test_on(std::size_t core) const noexcept {
    return idles_[core] ? test_ : test_without_idling(scenario_->policy());
  }

  /// All streams; indices are those of Stream::parent.
  [[nodiscard]] const std::vector<Stream>& streams() const noexcept { return streams_; }

  /// All cores with their demands.
  [[nodiscard]] const std::vector<CoreDemands>& cores() const noexcept { return cores_; }

  /// The demand of a stream.
  [[nodiscard]] const Demand& demand(std::size_t stream) const noexcept {
    return cores_[places_[stream].core].demands[places_[stream].demand];
  }

  /// The index in cores() of a stream's core.
  [[nodiscard]] std::size_t core_of(std::size_t stream) const noexcept {
    return places_[stream].core;
  }

  /// Whether demands depend on the responses of others, so that several rounds are needed.
  [[nodiscard]] bool iterates() const noexcept { return iterates_; }

  /// What the model leaves out or assumes, for people.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

  /// All joins; indices are those of Stream::join.
  [[nodiscard]] const std::vector<JoinModel>& joins() const noexcept { return joins_; }

  /// The join of a callback; nobody: none.
  [[nodiscard]] std::size_t join_of(std::size_t callback) const noexcept {
    return join_of_[callback];
  }

  /// How densely the publications of the join number `at` follow each other, given bounds
  /// (docs/reference/analysis.md, eq. 21): all of these together.
  [[nodiscard]] std::vector<Arrivals> publications(std::size_t at,
                                                   const ScenarioBounds& bounds) const;

  /// How densely the messages of the stream's jobs follow each other, one of each, given bounds.
  [[nodiscard]] Arrivals ends(std::size_t stream, const ScenarioBounds& bounds) const noexcept;

  /// The first stream of the stream's chain.
  [[nodiscard]] std::size_t root_of(std::size_t stream) const noexcept {
    while (streams_[stream].parent != nobody) {
      stream = streams_[stream].parent;
    }
    return stream;
  }

  /// From the release of the first stream of its chain to that of the stream, at least.
  [[nodiscard]] nanoseconds offset(std::size_t stream) const noexcept {
    return earliest(stream, root_of(stream)).release;
  }

  /// Whether chains are analysed as a whole: demands alone do not give the bounds.
  [[nodiscard]] bool has_chains() const noexcept { return has_messages_; }

  /// Evaluations of one demand for chains as a whole, in the rounds since the jitters were set.
  [[nodiscard]] std::int64_t chain_steps() const noexcept {
    return most_chain_steps - chain_effort_.steps + most_order_steps - order_effort_.steps +
           most_deadline_steps - deadline_effort_.steps + most_busy_steps - busy_effort_.steps;
  }

  /// The longest time that the core is busy without a break, with the present jitters of what comes
  /// from other cores (docs/reference/analysis.md, eq. 22); nothing: not found, or its policy or
  /// its callbacks may leave the core idle while a job is ready.
  [[nodiscard]] std::optional<nanoseconds> longest_busy(std::size_t core) const;

  /// How many jobs these streams of a callback have together, at most, while their core is busy
  /// without a break: one ends before the next one's release if it is one. Nothing: not known, or
  /// releases are noticed late.
  [[nodiscard]] std::optional<std::int64_t> jobs_while_busy(const std::vector<std::size_t>& streams,
                                                            const ScenarioBounds& bounds) const;

  /// Whether a request of the server may be overwritten before a job takes it, given responses by
  /// stream; its client would wait for ever.
  [[nodiscard]] bool may_lose_requests(std::size_t server,
                                       const std::vector<Response>& responses) const;

  /// How long a job of a callback that calls services takes from this segment on, at least: what
  /// it computes and waits, and what its servers do.
  [[nodiscard]] nanoseconds shortest_from(std::size_t callback,
                                          std::size_t segment) const noexcept {
    return shortest_part(callback, segment, waiting_[callback].segments.size());
  }

  /// The worst-case execution time of a job of the callback, all overheads included.
  [[nodiscard]] nanoseconds execution(std::size_t callback) const noexcept;

  /// From now on jobs of the callback (nobody: all callbacks) compute `factor` times as long.
  void scale(double factor, std::size_t callback = nobody);

  /// The influence of jobs' ends on the releases of others, as found so far.
  struct Jitters {
    /// The releases of one demand.
    struct OfDemand {
      Arrivals releases;          ///< Demand::releases.
      nanoseconds lag{0};         ///< Demand::lag.
      nanoseconds suspension{0};  ///< Demand::suspension.
      bool unanswered = false;    ///< Demand::unanswered.

      friend bool operator==(const OfDemand&, const OfDemand&) = default;
    };
    std::vector<OfDemand> of_demands;  ///< Core by core.
    /// By callback: a release may be noticed only at the end of the job before it.
    std::vector<bool> waits_for_job;
    /// By stream: from the release of the first callback of its chain to its end, at most.
    std::vector<std::optional<nanoseconds>> latencies;
  };

  /// The present jitters, to return to later.
  [[nodiscard]] Jitters jitters() const;

  /// Continues from these jitters.
  void assume(const Jitters& jitters);

  /// Returns to the state before the first round.
  void forget_jitters();

  /// The bounds of all cores with the present jitters. `graphs_before` are reused.
  [[nodiscard]] ScenarioBounds round(std::vector<std::optional<CoreGraph>> graphs_before,
                                     Graphs graphs, Effort& effort);

  /// Applies the ends of each stream's jobs to the streams that they release or request. `number`
  /// of the round, from 0: after many of them jitters that went to and fro only grow.
  /// @return whether anything changed.
  bool propagate(const ScenarioBounds& bounds, std::size_t number);

  /// Rounds until nothing changes.
  ScenarioBounds solve(Effort& effort, Graphs graphs);

  /// The verdict only; stops at the first deadline that cannot be guaranteed.
  std::optional<bool> accepts(Effort& effort, Graphs graphs);

 private:
  static constexpr std::int64_t most_chain_steps = 60'000'000;  // a second
  static constexpr std::int64_t most_order_steps = 10'000'000;
  static constexpr std::int64_t most_deadline_steps = 20'000'000;
  static constexpr std::int64_t most_busy_steps = 20'000'000;

  struct Place {
    std::size_t core = 0;
    std::size_t demand = 0;
  };
  struct Cost {
    nanoseconds best{0};
    nanoseconds worst{0};    // what it computes
    nanoseconds around{0};   // messages and dispatching
    nanoseconds waiting{0};  // for spin locks
    nanoseconds waits{0};    // its declared waits, at least
    double factor = 1;
    double common = 1;      // of all callbacks
    bool anywhere = false;  // it may publish before it ends
  };
  // What a job that calls services does besides.
  struct Waiting {
    nanoseconds declared{0};                          // its suspension without the calls
    std::vector<application::Segment> segments = {};  // as declared
    std::vector<Call> calls = {};
  };
  // Since the release of a stream before it, at least.
  struct Earliest {
    nanoseconds release{0};
    nanoseconds start{0};
  };

  [[nodiscard]] bool can_be_explored(const CoreDemands& core) const noexcept;
  [[nodiscard]] CoreGraph explore(const CoreDemands& core, Graphs graphs) const;
  CoreBounds bounds_on(std::size_t core, std::optional<CoreGraph>& graph, Graphs graphs,
                       Effort& effort) const;
  [[nodiscard]] std::string why_not_explored(const CoreDemands& core) const;
  [[nodiscard]] bool is_foreseeable(const CoreDemands& core, std::size_t message) const;

  void add_costs(const application::Application& application);
  void add_deliveries(const application::Application& application);
  void note_uncounted_waits(const application::Application& application);
  void share_subscription(const application::Application& application, std::size_t message);
  void add_streams(const application::Application& application,
                   const sched::CompiledStrategy& strategy);
  void add_released(const application::Application& application,
                    const sched::CompiledStrategy& strategy, std::size_t stream);
  void add_released(const sched::CompiledStrategy& strategy, Stream released, bool several);
  void add_unfollowed(const sched::CompiledStrategy& strategy, std::size_t callback,
                      bool by_its_own, bool several);
  [[nodiscard]] bool is_upstream(std::size_t callback, std::size_t stream) const noexcept;
  [[nodiscard]] bool causes(std::size_t callback, std::size_t stream) const noexcept;
  void add_early_releases(const sched::CompiledStrategy& strategy, std::size_t reader);
  bool follow_join(const application::Application& application,
                   const sched::CompiledStrategy& strategy);
  void declare_joins(const application::Application& application);
  [[nodiscard]] double rate_of(const std::vector<std::size_t>& streams) const noexcept;
  [[nodiscard]] bool find_rarest(const application::Application& application, JoinModel& join,
                                 const std::vector<bool>& known);
  void add_publications(const application::Application& application,
                        const sched::CompiledStrategy& strategy, std::size_t at);
  [[nodiscard]] std::vector<bool> known_releases(const sched::CompiledStrategy& strategy) const;
  [[nodiscard]] std::vector<std::size_t> streams_of(std::size_t callback) const;
  [[nodiscard]] nanoseconds least_period(std::size_t stream) const noexcept;
  void refuse_early_releases_of_joins();
  void give_turns(const application::Application& application);
  void refuse_early_releases_of_lanes(const application::Application& application);
  bool apply_ends(const ScenarioBounds& bounds);
  void set(const Jitters& jitters);
  bool propagate_publications(const ScenarioBounds& bounds);
  void add_calls(const application::Application& application);
  void add_called(const sched::CompiledStrategy& strategy, std::size_t stream);
  [[nodiscard]] std::vector<std::size_t> clients_of(std::size_t stream) const;
  [[nodiscard]] nanoseconds shortest_response(std::size_t server) const noexcept;
  [[nodiscard]] nanoseconds shortest_part(std::size_t callback, std::size_t first,
                                          std::size_t end) const noexcept;
  [[nodiscard]] Arrivals requests(std::size_t stream, const ScenarioBounds& bounds) const noexcept;
  [[nodiscard]] std::optional<nanoseconds> longest_response(
      std::size_t stream, const Call& call, const std::vector<Response>& responses) const;
  [[nodiscard]] std::optional<std::int64_t> most_requests(
      std::size_t server, const std::vector<Response>& responses) const;
  void note_lost_requests(std::size_t server, const std::vector<Response>& responses);
  bool propagate_responses(const std::vector<Response>& responses);
  void forget_responses();
  void place(const application::Application& application, const sched::CompiledStrategy& strategy);
  [[nodiscard]] application::Core declared_for(const application::Application& application,
                                               int cpu) const;
  void add_interrupts(const application::Application& application);
  void add_stream(Stream stream, const Arrivals& releases, nanoseconds deadline);
  void apply_costs();
  void apply_cost(std::size_t stream);
  void set_releases(std::size_t stream, const Arrivals& releases, nanoseconds lag);
  [[nodiscard]] bool never_idles(std::size_t at) const;
  [[nodiscard]] bool keeps_order(std::size_t at) const;
  [[nodiscard]] nanoseconds best_case(std::size_t stream) const noexcept;
  [[nodiscard]] nanoseconds earliest_end(std::size_t stream, const Earliest& job) const noexcept;
  [[nodiscard]] bool executes_all(std::size_t stream) const noexcept;
  [[nodiscard]] std::optional<nanoseconds> latest_first(std::size_t stream) const noexcept;
  void find_best_cases();
  [[nodiscard]] Earliest earliest(std::size_t stream, std::size_t since) const noexcept;
  [[nodiscard]] nanoseconds earliest_message(std::size_t stream,
                                             const Earliest& job) const noexcept;
  [[nodiscard]] bool starts_after_end(std::size_t stream, std::size_t before) const noexcept;
  [[nodiscard]] ChainNet chain_net() const;
  void bound_chains(ScenarioBounds& bounds);
  void bound_subchains(const ChainNet& net, std::size_t at, ScenarioBounds& bounds,
                       std::vector<Response>& latencies, std::vector<Response>& from_roots);
  void bound_by_busy_core(const ChainNet& net, std::size_t at, ScenarioBounds& bounds,
                          std::vector<Response>& latencies);
  void keep_busy(const ChainNet& net, std::size_t at, std::optional<sched::Level> floor,
                 ScenarioBounds& bounds, std::vector<Response>& latencies);
  void bound_stream(const ChainNet& net, std::size_t stream, const std::vector<Response>& units,
                    const std::vector<Response>& from_roots, PathLatencies& paths,
                    ScenarioBounds& bounds);
  void take_over(std::size_t at, ScenarioBounds& bounds) const;
  void shorten_by_graphs(ScenarioBounds& bounds);
  void forget_latencies();
  void renew_chain_effort() noexcept;
  bool assume_latencies(const ScenarioBounds& bounds);
  bool propagate_requests(std::size_t stream, const std::vector<Response>& responses);
  bool count_shifts();
  bool count_late_notices(const std::vector<Response>& responses);
  bool delay_interrupt(std::size_t stream, const std::optional<nanoseconds>& bound);
  Demand& demand_of(std::size_t stream) noexcept {
    return cores_[places_[stream].core].demands[places_[stream].demand];
  }
  template <class GoesOn>
  ScenarioBounds rounds(Effort& effort, Graphs graphs, GoesOn goes_on,
                        std::vector<std::optional<CoreGraph>> graphs_before);
  template <class GoesOn>
  ScenarioBounds settle(Effort& effort, Graphs graphs, GoesOn goes_on);
  bool admit_idling(const ScenarioBounds& bounds);

  struct Pending {
    Arrivals releases;
    nanoseconds deadline{0};
  };

  const sched::CompiledStrategy* strategy_;
  const sched::CompiledScenario* scenario_;
  nanoseconds release_overhead_;
  Test test_;
  bool iterates_ = false;  // releases of some streams depend on responses of others
  bool expects_switches_ = false;
  bool has_messages_ = false;         // ends of some streams' jobs release others
  bool many_rounds_ = false;          // since the jitters were set
  std::vector<Cost> costs_;           // by callback
  std::vector<nanoseconds> jitters_;  // by callback: how late its releases are noticed
  std::vector<Waiting> waiting_;      // by callback; empty: nobody calls a service
  // By callback: whether a release may wait for the job before, and is noticed when that ends.
  std::vector<bool> waits_for_job_;
  std::vector<std::optional<nanoseconds>> latencies_;  // by stream, as in Jitters
  // By stream: from a release to the end, at least, beside what is above; 0: not known.
  std::vector<nanoseconds> best_responses_;
  std::vector<std::size_t> streams_of_callback_;       // how many, for best_responses_
  Effort chain_effort_ = {.steps = most_chain_steps};  // in all rounds
  Effort order_effort_ = {.steps = most_order_steps};  // of parts of chains, beside these
  Effort deadline_effort_ = {.steps = most_deadline_steps};
  Effort busy_effort_ = {.steps = most_busy_steps};
  // By callback: messages that its topic keeps for it; 0: readers of its node take them, too.
  std::vector<std::size_t> queues_;
  std::vector<Stream> streams_;
  std::vector<JoinModel> joins_;
  std::vector<std::size_t> join_of_;  // by callback
  std::vector<Pending> pending_;
  std::vector<Place> places_;
  std::vector<CoreDemands> cores_;
  std::vector<bool> idles_;  // by core: its policy may leave it idle on purpose
  std::vector<std::string> remarks_;
};

}  // namespace takt::analysis
