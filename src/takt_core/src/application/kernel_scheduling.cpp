// SPDX-License-Identifier: Apache-2.0
#include "kernel_scheduling.hpp"

#include <array>
#include <cstdio>
#include <tuple>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "robot.hpp"
#include "robot_cores.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

constexpr int most_priority = 98;
constexpr int least_nice = -20;
constexpr int most_nice = 19;
constexpr nanoseconds longest = std::chrono::hours{1};

[[noreturn]] void refuse(const std::string& where, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError(where, what, fix);
}

// Without the noun of a message.
const char* what_it_has(const Process& process) {
  return process.reservation ? "a reservation" : "a nice value";
}

Reservation parse_reservation(const Json& json, const std::string& path) {
  Object object{json, path};
  Reservation reservation;
  object.read("runtime", reservation.runtime);
  object.read("period", reservation.period);
  reservation.deadline = reservation.period;
  object.read("deadline", reservation.deadline);
  object.finish();
  return reservation;
}

Supply parse_quota(const Json& json, const std::string& path) {
  Object object{json, path};
  Supply quota;
  object.read("budget", quota.budget);
  object.read("period", quota.period);
  object.finish();
  return quota;
}

void check_reservation(const Process& process, const Reservation& one) {
  const std::string where = place_text(process);
  if (one.runtime.count() < 1 || one.period > longest) {
    refuse(where,
           "its reservation has a runtime of " + sched::time_text(one.runtime) + " in every " +
               sched::time_text(one.period),
           "give a runtime above 0 and a period of at most an hour");
  }
  if (one.runtime > one.deadline || one.deadline > one.period) {
    refuse(where,
           "its reservation has a runtime of " + sched::time_text(one.runtime) +
               ", a deadline of " + sched::time_text(one.deadline) + " and a period of " +
               sched::time_text(one.period),
           "the kernel takes runtime <= deadline <= period");
  }
}

void check_one_way(const Process& process) {
  const std::string where = place_text(process);
  const int ways =
      (process.priority != 0 ? 1 : 0) + (process.reservation ? 1 : 0) + (process.nice ? 1 : 0);
  if (ways > 1) {
    refuse(where,
           std::string{"it has "} + what_it_has(process) + " besides " +
               (process.priority != 0 ? "a priority" : "a reservation") +
               ", and the kernel schedules a thread in one way",
           "keep one of priority (SCHED_FIFO), reservation (SCHED_DEADLINE) and nice "
           "(SCHED_OTHER)");
  }
  if (!process.reservation && !process.nice &&
      (process.priority < 1 || process.priority > most_priority)) {
    refuse(where, "its priority is " + std::to_string(process.priority),
           "give the real-time priority of its thread, from 1 to 98, or a reservation, or nice");
  }
  if (process.nice && (*process.nice < least_nice || *process.nice > most_nice)) {
    refuse(where, "its nice value is " + std::to_string(*process.nice),
           "give one from -20, which has the most weight, to 19");
  }
  if (!process.cpus.empty() && (process.reservation || process.quota)) {
    refuse(where,
           std::string{"it has a thread on each of several cores, and "} +
               (process.reservation ? "a reservation is that of one thread"
                                    : "a quota is that of all of them together"),
           "give it a priority or nice alone, or one core: cpu");
  }
  if (!process.quota) {
    return;
  }
  if (!process.nice) {
    refuse(where,
           "it has a quota (cpu_max), which the kernel applies to threads of SCHED_OTHER only",
           process.reservation ? "remove it: the reservation is its limit, too"
                               : "remove it, or give nice in place of the priority");
  }
  if (process.quota->budget.count() < 1 || process.quota->budget > process.quota->period) {
    refuse(where,
           "its quota is " + sched::time_text(process.quota->budget) + " in every " +
               sched::time_text(process.quota->period) + ", and it has one thread, on one core",
           "give a quota above 0 and of at most the period, or remove it");
  }
}

// One thread runs its jobs: there is none that could preempt it.
void check_policy(const Process& process) {
  if (sched::stock_executor(process.policy)) {
    return;
  }
  const sched::PolicyPtr policy = sched::parse_policy(process.policy);
  if (policy->preemptive() || (process.policy != "np-fp" && process.policy != "np-edf")) {
    refuse(place_text(process),
           std::string{"it has "} + what_it_has(process) + ", which is that of one thread, and " +
               process.policy +
               (policy->preemptive() ? " needs one for each job that preempts others"
                                     : " leaves the core to others on purpose"),
           "use np-fp, np-edf, rclcpp_single_threaded or rclcpp_events, or give it a priority");
  }
}

// Others would wait for one that the kernel does not let run.
void check_locks(const Application& application, std::size_t number) {
  for (const Callback& callback : application.callbacks) {
    if (callback.process == number && !callback.critical_sections.empty()) {
      const Process& process = application.processes[number];
      refuse(sched::task_text(callback.task),
             "it takes locks in " + place_text(process) + ", which has " + what_it_has(process) +
                 ": others would wait for it while the kernel keeps it from running",
             "give the process a priority, or remove the critical sections");
    }
  }
}

std::string core_text(const Process& process) {
  return "core " + std::to_string(process.cpu) +
         (process.host.empty() ? "" : " of host " + sched::name_text(process.host));
}

// Density at most 1: sufficient for EDF, also while servers sleep and wake up (Abeni et al. 2017).
void check_fit(const Application& application, const Process& process) {
  constexpr long double rounding = 1e-12L;
  long double sum = 0;
  for (const Process& other : application.processes) {
    if (other.reservation && share_core(other, process)) {
      sum += static_cast<long double>(other.reservation->runtime.count()) /
             static_cast<long double>(other.reservation->deadline.count());
    }
  }
  if (sum > 1 + rounding) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4Lg", sum);
    refuse(place_text(process),
           "the reservations on " + core_text(process) + " take " + text.data() +
               " of it together (the sum of runtime / deadline)",
           "lower their runtimes, lengthen their deadlines, or move one to another core, until the "
           "sum is at most 1");
  }
}

void check_core(const Application& application, const Process& process) {
  const Core* const core = declared_core(application, process);
  if (core != nullptr && (core->supply || (process.reservation && !core->interrupts.empty()))) {
    refuse(place_text(process),
           core_text(process) + " has " + (core->supply ? "a supply" : "interrupts") +
               " of its own, below which nothing is known of " +
               (process.reservation ? "a reservation" : "a quota"),
           "remove it from the core, or give the process a priority");
  }
}

int rank_of(const Process& process) {
  if (process.reservation) {
    return 2;
  }
  return process.nice ? 0 : 1;
}

}  // namespace

void parse_kernel_scheduling(Object& object, Process& process) {
  object.read("priority", process.priority);
  object.read("nice", process.nice);
  if (const Json* const reservation = object.find("reservation")) {
    process.reservation = parse_reservation(*reservation, object.at("reservation"));
  }
  if (const Json* const quota = object.find("quota")) {
    process.quota = parse_quota(*quota, object.at("quota"));
  }
}

bool is_fifo(const Process& process) {
  return rank_of(process) == 1;
}

bool runs_before(const Process& other, const Process& own) {
  return share_core(other, own) &&
         std::tuple{rank_of(other), other.priority} > std::tuple{rank_of(own), own.priority};
}

bool share_by_weights(const Process& left, const Process& right) {
  return share_core(left, right) && left.nice && right.nice && left.name != right.name;
}

void check_kernel_scheduling(const Application& application) {
  for (std::size_t number = 0; number < application.processes.size(); ++number) {
    const Process& process = application.processes[number];
    check_one_way(process);
    if (is_fifo(process)) {
      continue;
    }
    check_policy(process);
    check_locks(application, number);
    if (process.reservation) {
      check_reservation(process, *process.reservation);
    }
    if (process.reservation || process.quota) {
      check_core(application, process);
    }
  }
  for (const Process& process : application.processes) {
    if (process.reservation) {
      check_fit(application, process);
    }
  }
}

}  // namespace takt::application
