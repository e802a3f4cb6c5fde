// SPDX-License-Identifier: Apache-2.0
#include "robot_proposals.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "../application/kernel_scheduling.hpp"
#include "../application/robot.hpp"
#include "../sched/stock_executor.hpp"
#include "robot_budgets.hpp"
#include "takt/analysis/demand.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

using application::Application;
using application::Process;
using Place = std::pair<std::string, int>;  // a host and its core

constexpr int most_analyses = 300;
constexpr int highest = 90;  // leaves the threads of a process room above its own priority
constexpr int apart = 10;    // for the same reason

Place place_of(const Process& process) {
  return {process.host, process.cpu};
}

// By its callbacks.
struct Needs {
  nanoseconds deadline = never;  // the shortest
  nanoseconds period = never;    // the shortest
  double share = 0;              // of a core, by those that are released regularly
};

class Search {
 public:
  Search(const Application& robot, Options options, AnalyseProcess analyse_process)
      : robot_(robot), options_(std::move(options)), analyse_process_(analyse_process) {
    options_.sensitivity = options_.proposals = false;
    needs_.resize(robot.processes.size());
    for (const application::Callback& callback : robot.callbacks) {
      Needs& needs = needs_[callback.process];
      const sched::TaskParameters& parameters = callback.task.parameters;
      if (const nanoseconds deadline = sched::relative_deadline(parameters); deadline.count() > 0) {
        needs.deadline = std::min(needs.deadline, deadline);
      }
      if (parameters.period.count() > 0) {
        needs.period = std::min(needs.period, parameters.period);
        needs.share += static_cast<double>(callback.execution.worst.count()) /
                       static_cast<double>(parameters.period.count());
      }
    }
  }

  Processes run() {
    best_ = robot_.processes;
    kept_ = kept(best_);
    const int before = kept_;
    for (const Processes& start :
         {robot_.processes, ordered(robot_.processes), ordered(spread(robot_.processes))}) {
      climb(start);
      if (is_done()) {
        break;
      }
    }
    const bool changed = fit_reservations();
    return kept_ > before || changed ? best_ : Processes{};
  }

 private:
  [[nodiscard]] bool is_done() const {
    return proved_ || left_ <= 0 || Interruptible::interrupted();
  }

  // Each reservation by itself: first such that more is guaranteed, then as small as it may be.
  // Whether one is another now.
  bool fit_reservations() {
    bool changed = false;
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (!best_[i].reservation) {
        continue;
      }
      const application::Reservation before = *best_[i].reservation;
      if (!is_done()) {
        const Processes more = with_smallest(i, kept_ + 1);
        if (const int found = kept(more); found > kept_) {
          kept_ = found;
          best_ = more;
        }
      }
      best_ = with_smallest(i, kept_);
      const application::Reservation& after = *best_[i].reservation;
      changed = changed || after.runtime != before.runtime || after.period != before.period;
    }
    return changed;
  }

  // With the smallest budget of one of the best so far that guarantees so many limits.
  Processes with_smallest(std::size_t number, int wanted) {
    return with_smallest_budget(
        best_, number, needs_[number].period, [&](const Processes& changed) {
          return left_ > 0 && !Interruptible::interrupted() && kept(changed) >= wanted;
        });
  }

  // How many limits are guaranteed with them, and one more if all are; below 0: they are refused.
  int kept(const Processes& processes) {
    Application changed = robot_;
    changed.processes = processes;
    --left_;
    try {
      application::check_robot(changed);  // threads stay where they are
      const Report report = analyse_robot(changed, options_, analyse_process_);
      const ScenarioReport& scenario = report.scenarios.front();
      proved_ = proved_ || report.verdict == Verdict::meets;
      return static_cast<int>(
          (report.verdict == Verdict::meets ? 1 : 0) +
          std::ranges::count(scenario.callbacks, Verdict::meets, &CallbackReport::verdict) +
          std::ranges::count_if(scenario.chains, [](const ChainReport& chain) {
            return chain.max_latency && chain.verdict == Verdict::meets;
          }));
    } catch (const sched::ScheduleError&) {
      return -1;
    }
  }

  // Whether it is the best so far.
  bool is_better(const Processes& processes) {
    const int found = is_done() ? -1 : kept(processes);
    if (found <= kept_) {
      return false;
    }
    kept_ = found;
    best_ = processes;
    return true;
  }

  void climb(Processes from) {
    is_better(from);
    for (bool changed = true; changed && !is_done();) {
      changed = false;
      for (const Processes& next : neighbours(from)) {
        if (is_better(next)) {
          from = next;
          changed = true;
          break;
        }
      }
    }
  }

  // By host: a process stays on its own.
  [[nodiscard]] std::set<Place> places() const {
    std::set<Place> result;
    for (const Process& one : robot_.processes) {
      result.insert(place_of(one));
    }
    return result;
  }

  static void add_budgets(const Processes& from, std::size_t process,
                          std::vector<Processes>& result) {
    for (const int quarter : {4, 3, 2, 1}) {
      if (from[process].reservation) {
        result.emplace_back(from)[process].reservation->runtime =
            std::max(nanoseconds{1000}, largest_budget(from, process) * quarter / 4);
      }
    }
  }

  // With one change.
  [[nodiscard]] std::vector<Processes> neighbours(const Processes& from) const {
    constexpr std::array<std::string_view, 2> policies = {"dm", "edf"};
    std::vector<Processes> result;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!application::is_fifo(from[i])) {
        add_budgets(from, i, result);
        continue;  // its core and policy are those that fit
      }
      for (std::size_t j = i + 1; j < from.size(); ++j) {
        if (application::share_core(from[i], from[j]) && application::is_fifo(from[j])) {
          Processes swapped = from;
          std::swap(swapped[i].priority, swapped[j].priority);
          result.push_back(std::move(swapped));
        }
      }
      for (const std::string_view policy : policies) {
        if (!sched::stock_executor(from[i].policy) && from[i].policy != policy) {
          result.emplace_back(from)[i].policy = policy;
        }
      }
      for (const Place& place : places()) {
        if (from[i].cpus.empty() && place.first == from[i].host && place.second != from[i].cpu) {
          Processes moved = from;
          moved[i].cpu = place.second;
          result.push_back(ordered(std::move(moved)));
        }
      }
    }
    return result;
  }

  // Deadline-monotonic on each core.
  [[nodiscard]] Processes ordered(Processes processes) const {
    std::vector<std::size_t> order(processes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return needs_[i].deadline; });
    for (const Place& place : places()) {
      const auto count = static_cast<int>(std::ranges::count(processes, place, place_of));
      const int step = std::clamp(highest / std::max(1, count), 1, apart);
      int priority = highest;
      for (const std::size_t i : order) {
        if (place_of(processes[i]) == place && application::is_fifo(processes[i])) {
          processes[i].priority = priority;
          priority -= step;
        }
      }
    }
    return processes;
  }

  // The one that needs most first, each on the core that has most left.
  [[nodiscard]] Processes spread(Processes processes) const {
    std::vector<std::size_t> order(processes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t i) { return needs_[i].share; });
    std::map<Place, double> loads;
    for (const Place& place : places()) {
      loads[place] = 0;
    }
    for (const std::size_t i : order) {
      if (!application::is_fifo(processes[i]) || !processes[i].cpus.empty()) {
        loads[place_of(processes[i])] += needs_[i].share;
        continue;
      }
      auto least = loads.end();
      for (auto one = loads.begin(); one != loads.end(); ++one) {
        if (one->first.first == processes[i].host &&
            (least == loads.end() || one->second < least->second)) {
          least = one;
        }
      }
      processes[i].cpu = least->first.second;
      least->second += needs_[i].share;
    }
    return processes;
  }

  const Application& robot_;
  Options options_;
  AnalyseProcess analyse_process_;
  std::vector<Needs> needs_;
  Processes best_;
  int kept_ = 0;
  int left_ = most_analyses;
  bool proved_ = false;
};

}  // namespace

std::vector<Process> propose_processes(const Application& described, const Options& options,
                                       AnalyseProcess analyse_process) {
  return Search{described, options, analyse_process}.run();
}

}  // namespace takt::analysis
