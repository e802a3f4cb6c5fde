// SPDX-License-Identifier: Apache-2.0
//
// One scenario of an application as demands on cores. Timers are released by time; a message task
// is released by the ends of the jobs that write its topic, so it inherits their period, and as
// jitter what their ends vary by (holistic analysis, Tindell & Clark 1994): the bounds of one round
// give the jitters of the next, until nothing changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/analysis/core.hpp"
#include "takt/analysis/schedule_graph.hpp"
#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// What releases a callback: time, somebody outside, or the end of another stream's jobs.
struct Stream {
  std::size_t callback = 0;
  std::size_t parent = nobody;  // index of the stream whose ends are the releases
  bool early = false;  // or of what they release: to keep an age constraint, before their time
  // Of an early stream: whose jobs, readers of the data, each ask for one release.
  std::size_t asked_by = nobody;
  nanoseconds lead{0};  // so long before the release of the asking job
  bool circle = false;  // ... which this one leads to: nobody knows how often
  bool last = false;    // released by its own messages: all of them, at their least distance
};

// All schedules of one core.
struct CoreGraph {
  ScheduleGraph graph;
  std::vector<std::size_t> streams = {};  // by task of the graph
};

// Where a schedule graph may be made: it can take seconds.
enum class Graphs : std::uint8_t {
  none,     // the closed tests alone
  brief,    // where they do not prove the deadlines, and few states are enough: asked very often
  verdict,  // where they do not prove the deadlines
  witness,  // the same, with the run that misses one
};

struct ScenarioBounds {
  std::optional<bool> schedulable = {};
  std::vector<CoreBounds> cores = {};                 // as ScenarioModel::cores()
  std::vector<Response> responses = {};               // by stream
  std::vector<std::optional<CoreGraph>> graphs = {};  // as the cores; none: not needed
  bool converged = true;  // false: the jitters of a chain grow without end
};

class TAKT_CORE_PUBLIC ScenarioModel {
 public:
  struct CoreDemands {
    int cpu = 0;
    std::vector<Demand> demands;       // Demand::task is the index of the callback
    std::vector<std::size_t> streams;  // by demand; nobody: an interrupt
    std::size_t jobs = 0;  // demands before the interrupts, which come in the same order
    bool entangled =
        false;  // how long or how often its jobs may be held up, nobody knows: no bounds
  };

  ScenarioModel(const application::Application& application,
                const sched::CompiledStrategy& strategy, const sched::CompiledScenario& scenario);

  [[nodiscard]] Test test() const noexcept { return test_; }
  [[nodiscard]] const std::vector<Stream>& streams() const noexcept { return streams_; }
  [[nodiscard]] const std::vector<CoreDemands>& cores() const noexcept { return cores_; }
  [[nodiscard]] const Demand& demand(std::size_t stream) const noexcept {
    return cores_[places_[stream].core].demands[places_[stream].demand];
  }
  [[nodiscard]] std::size_t core_of(std::size_t stream) const noexcept {
    return places_[stream].core;
  }
  // Whether the demands on a core depend on what is found out about others.
  [[nodiscard]] bool iterates() const noexcept { return iterates_; }
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

  // How closely the ends of the stream's jobs follow each other, for a bound of their responses.
  [[nodiscard]] Arrivals ends(std::size_t stream, const Response& response) const noexcept;

  // The worst execution of a job of the callback, everything that it pays included.
  [[nodiscard]] nanoseconds execution(std::size_t callback) const noexcept;

  // From now on jobs of the callback (nobody: of all) compute `factor` times as long.
  void scale(double factor, std::size_t callback = nobody);

  // What the ends of jobs do to the releases of others, as far as it is found out.
  struct Jitters {
    struct OfDemand {
      Arrivals releases;
      nanoseconds lag{0};
    };
    std::vector<OfDemand> of_demands;  // core by core
    std::vector<bool> waits_for_job;   // by callback
  };
  [[nodiscard]] Jitters jitters() const;
  void assume(const Jitters& jitters);
  void forget_jitters();

  // The bounds of all cores with the jitters that are there, of which graphs are made already.
  [[nodiscard]] ScenarioBounds round(std::vector<std::optional<CoreGraph>> graphs_before,
                                     Graphs graphs, Effort& effort) const;
  // Takes the ends of each stream's jobs to the streams that they release, or ask for. Whether
  // anything changed.
  bool propagate(const std::vector<Response>& responses);

  // Rounds until nothing changes.
  ScenarioBounds solve(Effort& effort, Graphs graphs);
  // The verdict alone; stops at the first deadline that cannot be guaranteed.
  std::optional<bool> accepts(Effort& effort, Graphs graphs);

 private:
  struct Place {
    std::size_t core = 0;
    std::size_t demand = 0;
  };
  struct Cost {
    nanoseconds best{0};
    nanoseconds worst{0};   // what it computes
    nanoseconds around{0};  // messages and dispatching
    double factor = 1;
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
  void add_released(const sched::CompiledStrategy& strategy, std::size_t stream);
  [[nodiscard]] bool is_upstream(std::size_t callback, std::size_t stream) const noexcept;
  [[nodiscard]] bool causes(std::size_t callback, std::size_t stream) const noexcept;
  void add_early_releases(const sched::CompiledStrategy& strategy, std::size_t reader);
  void place(const application::Application& application, const sched::CompiledStrategy& strategy);
  void add_stream(Stream stream, const Arrivals& releases, nanoseconds deadline);
  void apply_costs();
  void set_releases(std::size_t stream, const Arrivals& releases, nanoseconds lag);
  bool propagate_requests(std::size_t stream, const std::vector<Response>& responses);
  bool count_late_notices(const std::vector<Response>& responses);
  bool delay_interrupt(std::size_t stream, const std::optional<nanoseconds>& bound);
  Demand& demand_of(std::size_t stream) noexcept {
    return cores_[places_[stream].core].demands[places_[stream].demand];
  }
  template <class GoesOn>
  ScenarioBounds rounds(Effort& effort, Graphs graphs, GoesOn goes_on);

  struct Pending {
    Arrivals releases;
    nanoseconds deadline{0};
  };

  const sched::CompiledStrategy* strategy_;
  const sched::CompiledScenario* scenario_;
  nanoseconds release_overhead_;
  Test test_;
  bool iterates_ = false;             // releases of some streams depend on responses of others
  std::vector<Cost> costs_;           // by callback
  std::vector<nanoseconds> jitters_;  // by callback: how late its releases are noticed
  // By callback: whether a release may wait for the job before, and is noticed when that ends.
  std::vector<bool> waits_for_job_;
  // By callback: messages that its topic keeps for it; 0: readers of its node take them, too.
  std::vector<std::size_t> queues_;
  std::vector<Stream> streams_;
  std::vector<Pending> pending_;
  std::vector<Place> places_;
  std::vector<CoreDemands> cores_;
  std::vector<std::string> remarks_;
};

}  // namespace takt::analysis
