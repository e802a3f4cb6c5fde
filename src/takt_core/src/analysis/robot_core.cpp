// SPDX-License-Identifier: Apache-2.0
#include "robot_core.hpp"

#include <algorithm>
#include <sstream>

#include "../application/kernel_scheduling.hpp"
#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "../application/robot_cores.hpp"
#include "../application/threads.hpp"
#include "../sched/text.hpp"
#include "cores_of_threads.hpp"
#include "methods.hpp"

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
  return process.nice && process.cpus.size() > 1;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::optional<Core> core_of(const Application& robot, std::size_t number,
                            const std::vector<Effects>& effects, bool& disturbed) {
  const Process& own = robot.processes[number];
  const std::vector<Core> declared = declared_of(robot, own);
  Core core = together(declared);
  core.cpu = own.cpu;
  if (own.reservation) {
    core.supply = {.budget = own.reservation->runtime,
                   .period = own.reservation->period,
                   .deadline = own.reservation->deadline};
  } else if (own.quota) {
    core.supply = own.quota;
  }
  if (shares_with_itself(own)) {
    core.interrupts.push_back({.duration = nanoseconds{1}});  // as often as it likes
  }
  const nanoseconds around = robot.overheads.preemption + robot.overheads.release;
  if (own.reservation && around.count() > 0) {  // it goes on with each new runtime
    core.interrupts.push_back(
        {.period = own.reservation->period, .duration = around, .jitter = own.reservation->period});
  }
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Process& other = robot.processes[i];
    const bool both_reserved =
        i != number && own.reservation && other.reservation && application::share_core(other, own);
    if (both_reserved) {
      disturbed = true;
      add_switches(core, *other.reservation, effects[i], around);
    } else if (application::share_by_weights(other, own)) {
      disturbed = true;
      core.interrupts.push_back({.duration = nanoseconds{1}});  // as often as it likes
    } else if (application::runs_before(other, own)) {
      disturbed = true;
      if (other.reservation) {
        add_server(core, *other.reservation, effects[i], around);
      } else {
        add_jobs(core, effects[i], around);
      }
    }
  }
  const bool whole = declared.empty() && !core.supply && core.interrupts.empty();
  return whole ? std::optional<Core>{} : core;
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
         << " (SCHED_DEADLINE), and that no reservation beside those described is on " << core;
    remarks.push_back(text.str());
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
         << sched::time_text(process.quota->period);
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

void name_supply(ScenarioReport& report, const Application& robot, std::size_t number) {
  const Process& own = robot.processes[number];
  const std::string rivals = rivals_of(robot, own);
  for (CallbackReport& callback : report.callbacks) {
    if (!rivals.empty() || shares_with_itself(own)) {
      callback.bound_by = std::string{methods::by_weights};
    } else if (own.reservation) {
      replace(callback.bound_by, methods::periodic_resource, methods::reservation);
    } else if (own.quota) {
      replace(callback.bound_by, methods::periodic_resource, methods::quota);
    }
  }
}

}  // namespace takt::analysis
