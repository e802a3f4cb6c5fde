// SPDX-License-Identifier: Apache-2.0
#include "robot_core.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <utility>

#include "../application/kernel_scheduling.hpp"
#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "../application/robot_cores.hpp"
#include "../application/threads.hpp"
#include "../sched/text.hpp"
#include "cores_of_threads.hpp"
#include "methods.hpp"
#include "own_use.hpp"
#include "robot_words.hpp"
#include "takt/stats/int128.hpp"

namespace takt::analysis {
namespace {

using application::Application;
using application::Core;
using application::Process;
using application::Reservation;

// How much earlier than every period its server may run. A window begins where it has nothing to
// run. If it then wakes up within a period that has begun, it has what is left of the runtime, at
// most its share of the time until the deadline, and then a whole one.
nanoseconds early(const Reservation& one) {
  return one.deadline - one.runtime;
}

void add_jobs(Core& core, const Effects& effects, nanoseconds around) {
  for (const Load& load : effects.loads) {
    core.interrupts.push_back({.period = load.noticed.period,
                               .duration = load.execution + around,
                               .jitter = load.noticed.jitter});
  }
}

// How often the server may come between: when its process wakes up for a job, and with each new
// runtime.
void add_switches(Core& core, const Reservation& server, const Effects& effects,
                  nanoseconds around) {
  if (around.count() == 0) {
    return;
  }
  core.interrupts.push_back({.period = server.period, .duration = around, .jitter = early(server)});
  for (const Load& load : effects.loads) {
    core.interrupts.push_back(
        {.period = load.started.period, .duration = around, .jitter = load.started.jitter});
  }
}

void add_server(Core& core, const Reservation& server, const Effects& effects, nanoseconds around) {
  core.interrupts.push_back(
      {.period = server.period, .duration = server.runtime, .jitter = early(server)});
  add_switches(core, server, effects, around);
}

std::vector<Use> uses_of(const std::vector<application::Interrupts>& interrupts) {
  std::vector<Use> uses;
  uses.reserve(interrupts.size());
  for (const application::Interrupts& one : interrupts) {
    uses.push_back(
        {.noticed = {.period = one.period, .jitter = (one.burst - 1) * one.period + one.jitter},
         .execution = one.duration});
  }
  return uses;
}

std::vector<Use> uses_of(const Effects& effects, nanoseconds around) {
  std::vector<Use> uses;
  uses.reserve(effects.loads.size());
  for (const Load& load : effects.loads) {
    uses.push_back({.noticed = load.noticed, .execution = load.execution + around});
  }
  return uses;
}

// Whether its jobs never use up the budget that the kernel gives the process in each period, if
// only these interrupts keep them from the core.
bool is_never_throttled(const Effects& own, const std::vector<application::Interrupts>& interrupts,
                        nanoseconds budget, nanoseconds period, nanoseconds around) {
  const std::optional<nanoseconds> used =
      most_used(uses_of(own, around), uses_of(interrupts), period);
  return used && *used <= budget;
}

// Whether a reservation may keep another one from its core. Those that roam are no more than cores.
bool delays(const Process& other, const Process& own) {
  return application::share_core(other, own) && !application::roams(own);
}

// Whether a whole runtime ends no later after all of the other servers of the core than after the
// longest time without supply. No jobs are looked at: this never changes.
bool goes_well_below(const Application& robot, const Process& own) {
  const Reservation& server = *own.reservation;
  const nanoseconds latest = server.period + server.deadline - server.runtime;
  const auto end = [&](nanoseconds window) {
    nanoseconds sum = server.runtime;
    for (const Process& other : robot.processes) {
      if (other.reservation && &other != &own && delays(other, own)) {
        const Arrivals runtimes{.period = other.reservation->period,
                                .jitter = early(*other.reservation)};
        sum += runtimes.open(window) * other.reservation->runtime;
      }
    }
    return sum;
  };
  nanoseconds time = server.runtime;
  for (nanoseconds next = end(time); next > time && next <= latest; next = end(time)) {
    time = next;
  }
  return end(time) <= time;
}

// Who is throttled goes on with each new runtime, or in each new period.
void add_resumptions(Core& core, nanoseconds period, nanoseconds around) {
  if (around.count() > 0) {
    core.interrupts.push_back({.period = period, .duration = around, .jitter = period});
  }
}

// What its own reservation and the others beside it leave to the process. Whether there are others.
bool add_reservation(Core& core, const Application& robot, std::size_t number,
                     const std::vector<Effects>& effects) {
  const Process& own = robot.processes[number];
  const Reservation& server = *own.reservation;
  const nanoseconds around = robot.overheads.preemption + robot.overheads.release;
  Core below = core;
  bool disturbed = false;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Process& other = robot.processes[i];
    if (i != number && other.reservation && delays(other, own)) {
      disturbed = true;
      add_server(below, *other.reservation, effects[i], around);
      add_switches(core, *other.reservation, effects[i], around);
    }
  }
  // With an earlier deadline it may be throttled although there is some of its runtime left.
  if (server.deadline == server.period && goes_well_below(robot, own) &&
      is_never_throttled(effects[number], below.interrupts, server.runtime, server.period,
                         around)) {
    core = std::move(below);
    return disturbed;
  }
  core.supply = {.budget = server.runtime, .period = server.period, .deadline = server.deadline};
  add_resumptions(core, server.period, around);
  return disturbed;
}

double load_of(const std::vector<Use>& uses) {
  double load = 0;
  for (const Use& one : uses) {
    load += one.noticed.period.count() <= 0 ? 1
                                            : static_cast<double>(one.execution.count()) /
                                                  static_cast<double>(one.noticed.period.count());
  }
  return load;
}

// Whether its bounds follow from windows that begin where nothing is pending.
bool counts_from_idle(const Application& robot, std::size_t number) {
  const auto is_own = [&](const application::Callback& one) { return one.process == number; };
  return robot.processes[number].policy != "rclcpp_single_threaded" &&
         std::ranges::none_of(robot.callbacks, [&](const application::Callback& reader) {
           return is_own(reader) && reader.task.kind == sched::TaskKind::message &&
                  std::ranges::any_of(robot.callbacks, [&](const application::Callback& writer) {
                    return is_own(writer) && publishes(writer, reader.task.trigger);
                  });
         });
}

// Each throttled period has a whole budget of what the process computes: of the jobs in a window,
// and once of others in the period in which it begins. So each job pays for its share of the rest.
// Nothing: that leads to no bound.
std::optional<std::vector<application::Interrupts>> throttling(const Core& core,
                                                               const application::Supply& quota,
                                                               const std::vector<Use>& jobs,
                                                               bool from_idle) {
  constexpr nanoseconds once = std::chrono::years{1};
  const nanoseconds rest = quota.period - quota.budget;
  std::vector<application::Interrupts> result = {{.period = once, .duration = rest}};
  std::vector<Use> others = uses_of(core.interrupts);
  others.push_back({.noticed = {.period = once}, .execution = rest});
  std::vector<Use> paying = jobs;
  for (Use& use : paying) {
    const stats::Int128 share = stats::Int128{rest.count()} * use.execution.count();
    const nanoseconds paid{
        static_cast<std::int64_t>((share + quota.budget.count() - 1) / quota.budget.count())};
    result.push_back(
        {.period = use.noticed.period, .duration = paid, .jitter = use.noticed.jitter});
    use.execution += paid;
  }
  const std::optional<nanoseconds> busy = longest_busy(paying, others);
  if (!busy) {
    return {};
  }
  for (std::size_t i = 1; i < result.size() && !from_idle; ++i) {
    result[i].jitter += *busy;  // jobs that came before the window
  }
  return result;
}

// What the quota takes from its process. Whether it counts as interrupts.
bool add_quota(Core& core, const Application& robot, std::size_t number, const Effects& own) {
  const application::Supply& quota = *robot.processes[number].quota;
  const nanoseconds around = robot.overheads.preemption + robot.overheads.release;
  if (is_never_throttled(own, core.interrupts, quota.budget, quota.period, around)) {
    return false;
  }
  constexpr double near = 1e-9;
  const double share =
      static_cast<double>(quota.budget.count()) / static_cast<double>(quota.period.count());
  const std::vector<Use> jobs = uses_of(own, around);
  if (load_of(uses_of(core.interrupts)) + load_of(jobs) >= share - near) {
    // Of those above the quota takes nothing. Who goes on in a new period pays for that first.
    application::Supply left = quota;
    left.budget -= around;
    if (const auto paid = left.budget.count() > 0
                              ? throttling(core, left, jobs, counts_from_idle(robot, number))
                              : std::nullopt) {
      core.interrupts.insert(core.interrupts.end(), paid->begin(), paid->end());
      return true;
    }
  }
  // Each period begins with its budget: nothing comes from when that is used up until the next.
  core.supply = {.budget = quota.budget, .period = quota.period, .deadline = quota.budget};
  add_resumptions(core, quota.period, around);
  return false;
}

// What is declared of its cores.
std::vector<Core> declared_of(const Application& robot, const Process& process) {
  std::vector<Core> declared;
  for (const int cpu : application::cores_of(process)) {
    if (const Core* const core = application::declared_core(robot, process, cpu)) {
      declared.push_back(*core);
    }
  }
  return declared;
}

std::string rivals_of(const Application& robot, const Process& own) {
  std::string names;
  for (const Process& other : robot.processes) {
    if (application::share_by_weights(other, own)) {
      names += (names.empty() ? "" : " and ") + sched::name_text(other.name);
    }
  }
  return names;
}

// Whether the kernel may let several of its threads share a core by weights.
bool shares_with_itself(const Process& process) {
  return process.nice && process.cpus.size() > 1 && !application::roams(process);
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

ShareOfCore share_of_core(const Application& robot, std::size_t number,
                          const std::vector<Effects>& effects) {
  const Process& own = robot.processes[number];
  Process placed = own;
  if (application::roams(own)) {
    placed.cpus.clear();  // it waits only while each of its cores is taken or away: this one, too
  }
  const std::vector<Core> declared = declared_of(robot, own);
  ShareOfCore share;
  Core core = together(declared);
  core.cpu = own.cpu;
  if (shares_with_itself(own)) {
    core.interrupts.push_back({.duration = nanoseconds{1}});  // as often as it likes
  }
  const nanoseconds around = robot.overheads.preemption + robot.overheads.release;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Process& other = robot.processes[i];
    if (application::share_by_weights(other, own)) {
      share.disturbed = true;
      core.interrupts.push_back({.duration = nanoseconds{1}});  // as often as it likes
    } else if (application::runs_before(other, placed)) {
      share.disturbed = true;
      if (other.reservation) {
        add_server(core, *other.reservation, effects[i], around);
      } else {
        add_jobs(core, effects[i], around);
      }
    }
  }
  if (own.reservation) {
    share.disturbed = add_reservation(core, robot, number, effects) || share.disturbed;
  } else if (own.quota) {
    share.throttled = add_quota(core, robot, number, effects[number]);
    share.disturbed = share.disturbed || share.throttled;
  }
  if (!declared.empty() || core.supply || !core.interrupts.empty()) {
    share.core = std::move(core);
  }
  return share;
}

namespace {

void add_to_assumed(std::vector<std::string>& remarks, const Application& robot,
                    const Process& process) {
  const std::string where = application::place_text(process);
  std::string core = "core " + std::to_string(process.cpu);
  if (!process.host.empty()) {
    core += " of host " + process.host;
  }
  std::ostringstream text;
  if (process.reservation) {
    text << "assuming that the kernel gives " << where << ' '
         << sched::time_text(process.reservation->runtime) << " within "
         << sched::time_text(process.reservation->deadline) << " in every "
         << sched::time_text(process.reservation->period)
         << " (SCHED_DEADLINE), and that no reservation beside those described is on "
         << (application::roams(process) ? "its cores" : core);
    remarks.push_back(text.str());
    if (!application::roams(process)) {
      remarks.push_back("assuming that an exclusive cpuset binds the reservation of " + where +
                        " to " + core +
                        ": without one the kernel runs it on all cores of its scheduling domain, "
                        "which cpus describes");
    }
  }
  if (!process.nice) {
    return;
  }
  text.str("");
  if (const std::string rivals = rivals_of(robot, process); !rivals.empty()) {
    text << where << " shares " << core << " with " << rivals
         << " by weights (SCHED_OTHER), of which no bound is known: give it a reservation or a "
            "priority, or a core of its own";
    remarks.push_back(text.str());
    return;
  }
  if (shares_with_itself(process)) {
    text << where
         << " has several threads at SCHED_OTHER, which the kernel may place on one core: "
            "no bound is known; give it a priority, or one core";
    remarks.push_back(text.str());
    return;
  }
  text << "assuming that nothing but " << where << " runs at SCHED_OTHER on " << core;
  remarks.push_back(text.str());
  if (process.quota) {
    text.str("");
    text << "assuming that " << where << " has its quota (cpu.max) for itself, "
         << sched::time_text(process.quota->budget) << " in every "
         << sched::time_text(process.quota->period)
         << ", accounted at once (the kernel does so at its ticks, 1 to 10 ms apart)";
    remarks.push_back(text.str());
  }
}

}  // namespace

std::vector<std::string> assumed_of_kernel(const Application& robot) {
  std::vector<std::string> remarks;
  for (const Process& process : robot.processes) {
    add_to_assumed(remarks, robot, process);
  }
  return remarks;
}

void name_supply(ScenarioReport& report, const Application& robot, std::size_t number,
                 bool throttled) {
  const Process& own = robot.processes[number];
  const std::string rivals = rivals_of(robot, own);
  for (CallbackReport& callback : report.callbacks) {
    if (!rivals.empty() || shares_with_itself(own)) {
      callback.bound_by = std::string{methods::by_weights};
    } else if (own.reservation) {
      replace(callback.bound_by, methods::periodic_resource, methods::reservation);
    } else if (throttled) {
      callback.bound_by += methods::throttled;
    } else if (own.quota) {
      replace(callback.bound_by, methods::periodic_resource, methods::quota);
    }
  }
}

}  // namespace takt::analysis
