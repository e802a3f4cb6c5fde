// SPDX-License-Identifier: Apache-2.0
#include "proposals.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "one_scenario.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/analysis/fixed_priority.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::analysis {
namespace {

constexpr sched::Level unassigned = 1'000;  // above all priorities
constexpr int highest = 98;

bool holds(const application::Application& application) {
  try {
    return accepts(application);
  } catch (const sched::ScheduleError&) {
    return false;
  }
}

// One core while its priorities are given away.
class Assignment {
 public:
  Assignment(const sched::CompiledStrategy& strategy, const ScenarioModel& model,
             const ScenarioModel::CoreDemands& core, bool preemptive)
      : model_(model), core_(core), demands_(core.demands), preemptive_(preemptive) {
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (demands_[i].interrupt) {
        continue;
      }
      const std::size_t callback = model.streams()[core.streams[i]].callback;
      group_of_[callback] = strategy.tasks()[callback].group;
      waiting_.push_back(callback);
    }
    std::ranges::sort(waiting_);
    waiting_.erase(std::ranges::unique(waiting_).begin(), waiting_.end());
    for (const std::size_t callback : waiting_) {
      set_level(callback, unassigned);
    }
  }

  // Callbacks from the lowest priority upwards; fewer than there are when none keeps its deadline.
  std::vector<std::size_t> run() {
    std::vector<std::size_t> order;
    while (!waiting_.empty()) {
      const auto level = static_cast<sched::Level>(order.size()) + 1;
      const auto fits = std::ranges::find_if(waiting_, [&](std::size_t callback) {
        set_level(callback, level);
        if (keeps_deadline(callback)) {
          return true;
        }
        set_level(callback, unassigned);
        return false;
      });
      if (fits == waiting_.end()) {
        break;
      }
      order.push_back(*fits);
      waiting_.erase(fits);
    }
    return order;
  }

 private:
  [[nodiscard]] bool is_of(std::size_t demand, std::size_t callback) const {
    return !demands_[demand].interrupt &&
           model_.streams()[core_.streams[demand]].callback == callback;
  }

  void set_level(std::size_t callback, sched::Level level) {
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (is_of(i, callback)) {
        demands_[i].level = level;
      }
    }
  }

  bool keeps_deadline(std::size_t callback) {
    std::map<std::string, sched::Level> ceilings;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (demands_[i].interrupt) {
        continue;
      }
      sched::Level& ceiling = ceilings[group(i)];
      ceiling = std::max(ceiling, demands_[i].level);
    }
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (demands_[i].interrupt || !preemptive_) {
        continue;
      }
      // Its own ceiling would depend on the order of those above it; without one the bound is
      // larger, and the final check counts it.
      demands_[i].ceiling =
          group(i).empty() || is_of(i, callback) ? sched::no_ceiling : ceilings[group(i)];
    }
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (!is_of(i, callback)) {
        continue;
      }
      Effort effort{.steps = 1'000'000};
      const Response response = fixed_priority_response(demands_, i, effort, core_.supply);
      if (!response.bound || *response.bound > demands_[i].deadline) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] const std::string& group(std::size_t demand) const {
    return group_of_.at(model_.streams()[core_.streams[demand]].callback);
  }

  const ScenarioModel& model_;
  const ScenarioModel::CoreDemands& core_;
  std::vector<Demand> demands_;
  std::vector<std::size_t> waiting_;
  std::map<std::size_t, std::string> group_of_;
  bool preemptive_;
};

// What moves together: a group, or one callback.
struct Cluster {
  std::vector<std::size_t> callbacks;
  std::vector<Demand> demands;
  double share = 0;
  int cpu = -1;  // asked for
};

std::vector<Cluster> clusters_of(const application::Application& application,
                                 const ScenarioModel& model) {
  std::vector<Cluster> clusters;
  std::map<std::string, std::size_t> groups;
  std::map<std::size_t, std::size_t> known;
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    const std::size_t callback = model.streams()[stream].callback;
    const sched::Task& task = application.callbacks[callback].task;
    std::size_t at = clusters.size();
    if (!task.group.empty()) {
      at = groups.emplace(task.group, at).first->second;
    }
    at = known.emplace(callback, at).first->second;
    if (at == clusters.size()) {
      clusters.emplace_back();
    }
    Cluster& cluster = clusters[at];
    if (cluster.callbacks.empty() || cluster.callbacks.back() != callback) {
      cluster.callbacks.push_back(callback);
    }
    cluster.demands.push_back(model.demand(stream));
    cluster.share += utilization(model.demand(stream));
    if (task.cpu >= 0) {
      cluster.cpu = task.cpu;
    }
  }
  std::ranges::stable_sort(clusters, std::ranges::greater{}, &Cluster::share);
  return clusters;
}

Proposal pack(const application::Application& application, const ScenarioModel& model, Test test,
              const std::vector<Cluster>& clusters, bool least_utilized_first) {
  struct Bin {
    int cpu;
    double share = 0;
    std::vector<Demand> demands = {};
    Supply supply = {};
  };
  std::vector<Bin> bins;
  for (const ScenarioModel::CoreDemands& core : model.cores()) {
    bins.push_back({.cpu = core.cpu, .supply = core.supply});
    std::ranges::copy_if(core.demands, std::back_inserter(bins.back().demands),
                         [](const Demand& demand) { return demand.task == nobody; });
  }
  Proposal proposal;
  for (const Cluster& cluster : clusters) {
    std::vector<std::size_t> order(bins.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (least_utilized_first) {
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return bins[i].share; });
    }
    const auto fits = std::ranges::find_if(order, [&](std::size_t i) {
      if (cluster.cpu >= 0 && bins[i].cpu != cluster.cpu) {
        return false;
      }
      std::vector<Demand> demands = bins[i].demands;
      demands.insert(demands.end(), cluster.demands.begin(), cluster.demands.end());
      Effort effort{.steps = 2'000'000};
      return accepts(test, demands, effort, bins[i].supply) == true;
    });
    if (fits == order.end()) {
      return {};
    }
    Bin& bin = bins[*fits];
    bin.demands.insert(bin.demands.end(), cluster.demands.begin(), cluster.demands.end());
    bin.share += cluster.share;
    for (const std::size_t callback : cluster.callbacks) {
      proposal.emplace_back(application.callbacks[callback].task.name, bin.cpu);
    }
  }
  return proposal;
}

}  // namespace

Proposal propose_priorities(const application::Application& application,
                            const sched::CompiledStrategy& strategy,
                            const sched::CompiledScenario& scenario, const ScenarioModel& model) {
  if (model.test() != Test::fixed_priority) {
    return {};
  }
  application::Application changed = one_scenario(application, strategy, scenario);
  if (changed.policy == "rm" || changed.policy == "dm") {
    changed.policy = "fp";
  }
  Proposal proposal;
  for (const ScenarioModel::CoreDemands& core : model.cores()) {
    std::size_t callbacks = 0;
    for (const sched::Core& placed : strategy.cores()) {
      if (placed.cpu == core.cpu) {
        callbacks = placed.tasks.size();
      }
    }
    if (callbacks > highest) {
      return {};
    }
    const auto order = Assignment{strategy, model, core, scenario.policy().preemptive()}.run();
    std::vector<std::size_t> streams;
    for (const std::size_t stream : core.streams) {
      if (stream != nobody) {
        streams.push_back(model.streams()[stream].callback);
      }
    }
    std::ranges::sort(streams);
    const auto active =
        static_cast<std::size_t>(std::ranges::unique(streams).begin() - streams.begin());
    if (order.size() < active) {
      return {};
    }
    int priority = highest;
    for (std::size_t i = order.size(); i-- > 0;) {
      changed.callbacks[order[i]].task.parameters.priority = priority;
      proposal.emplace_back(changed.callbacks[order[i]].task.name, priority--);
    }
  }
  return holds(changed) ? proposal : Proposal{};
}

Proposal propose_cores(const application::Application& application,
                       const sched::CompiledStrategy& strategy,
                       const sched::CompiledScenario& scenario, const ScenarioModel& model) {
  const bool locks = std::ranges::any_of(
      application.callbacks,
      &application::Callback::holds_locks);  // whoever shares one stays together
  // Where no core is left idle on purpose, what suffices without idling does.
  const Test test = test_without_idling(scenario.policy());
  if (model.cores().size() < 2 || locks || test == Test::none) {
    return {};
  }
  application::Application changed = one_scenario(application, strategy, scenario);
  for (const bool least_utilized_first : {false, true}) {
    const Proposal proposal =
        pack(application, model, test, clusters_of(application, model), least_utilized_first);
    for (const auto& [name, cpu] : proposal) {
      const auto callback = std::ranges::find(
          changed.callbacks, name,
          [](const application::Callback& candidate) { return candidate.task.name; });
      callback->task.cpu = cpu;
    }
    if (!proposal.empty() && holds(changed)) {
      return proposal;
    }
  }
  return {};
}

}  // namespace takt::analysis
