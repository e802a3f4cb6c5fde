// SPDX-License-Identifier: Apache-2.0
#include "kernel_scheduling.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <takt/executor/kernel_deadline.hpp>
#include <takt/sched/error.hpp>

namespace takt::runner {
namespace {

std::string cores_text(const application::Process& process) {
  const std::vector<int> cpus = cpus_of(process);
  std::string text = "process '" + process.name + "' bound to core" + (cpus.size() > 1 ? "s" : "");
  for (const int cpu : cpus) {
    text += (cpu == cpus.front() ? " " : ", ") + std::to_string(cpu);
  }
  return text;
}

// The kernel refuses reservations of threads that may not use all cores of their scheduling domain:
// then the thread may use them, and this says so.
os::SettingsNotGranted reserve(const application::Process& process, pid_t thread) {
  const application::Reservation& asked = *process.reservation;
  const executor::Reservation reservation{
      .runtime = asked.runtime, .deadline = asked.deadline, .period = asked.period};
  const std::string what = "process '" + process.name + "'";
  cpu_set_t bound;
  cpu_set_t all;
  CPU_ZERO(&bound);
  for (const int cpu : cpus_of(process)) {
    CPU_SET(static_cast<std::size_t>(cpu), &bound);
  }
  sched_setaffinity(thread, sizeof bound, &bound);
  const auto on_its_cores = executor::reserve(reservation, what, thread);
  if (!on_its_cores) {
    return {};
  }
  sched_getaffinity(getpid(), sizeof all, &all);  // of the first thread, which is bound to none
  sched_setaffinity(thread, sizeof all, &all);
  if (auto anywhere = executor::reserve(reservation, what, thread)) {
    sched_setaffinity(thread, sizeof bound, &bound);
    return {*std::move(anywhere)};
  }
  return {{.what = cores_text(process),
           .why = "a reservation (SCHED_DEADLINE) may run on all cores of its scheduling domain",
           .fix = "name them all (cpus), or make an exclusive cpuset of its cores, which is a "
                  "domain of its own"}};
}

os::SettingsNotGranted be_nice(const application::Process& process, pid_t thread) {
  if (setpriority(PRIO_PROCESS, static_cast<id_t>(thread), *process.nice) == 0) {
    return {};
  }
  return {{.what = "process '" + process.name + "' with nice " + std::to_string(*process.nice),
           .why = "setpriority: " + os::error_text(errno),
           .fix = "run as root, add CAP_SYS_NICE, or raise RLIMIT_NICE (ulimit -e)"}};
}

void write(const std::filesystem::path& file, pid_t number) {
  std::ofstream stream{file};
  stream << number << std::flush;
  if (!stream) {
    const int error = errno;
    throw std::runtime_error{file.string() + ": " + os::error_text(error) +
                             ". Fix: remove cpu_max, or run as root"};
  }
}

// Version 1 takes single threads. In version 2 their group is within one of their process.
void enter(const std::filesystem::path& group, pid_t thread) {
  if (const auto tasks = group / "tasks"; std::filesystem::exists(tasks)) {
    write(tasks, thread);
    return;
  }
  write(group.parent_path() / "cgroup.procs", getpid());
  write(group / "cgroup.threads", thread);
}

}  // namespace

std::vector<int> cpus_of(const application::Process& process) {
  return process.cpus.empty() ? std::vector{process.cpu} : process.cpus;
}

os::ThreadSettings settings_of(const application::Process& process) {
  const bool fifo = !process.reservation && !process.nice;
  return {.policy = fifo ? os::SchedulingPolicy::fifo : os::SchedulingPolicy::other,
          .priority = process.priority,
          .cpus = cpus_of(process),
          .name = "takt.spin"};
}

os::SettingsNotGranted schedule(const application::Process& process, pid_t thread) {
  if (process.reservation) {
    return reserve(process, thread);
  }
  return process.nice ? be_nice(process, thread) : os::SettingsNotGranted{};
}

os::SettingsNotGranted not_granted_to(const application::Process& process) {
  os::SettingsNotGranted refused;
  os::Thread trying{settings_of(process), [&] { refused = schedule(process, gettid()); }};
  trying.join();
  refused.insert(refused.end(), trying.not_granted().begin(), trying.not_granted().end());
  return refused;
}

void add_not_granted(std::vector<std::pair<std::string, std::string>>& attributes,
                     const os::SettingsNotGranted& refused) {
  for (const os::NotGranted& one : refused) {
    attributes.emplace_back("not_granted", one.what + ": " + one.why);
  }
}

void schedule_as_reported(const Settings& settings, const application::Process& process,
                          pid_t thread, const os::SettingsNotGranted& refused) {
  for (const os::NotGranted& one : schedule(process, thread)) {
    if (std::ranges::find(refused, one) == refused.end()) {
      throw std::runtime_error{one.what + ": " + one.why};
    }
  }
  if (process.quota) {
    enter(settings.quotas.at(process.name), thread);
  }
}

pid_t thread_of_takt() {
  const std::vector<os::ThreadStatus> threads = os::process_threads();
  const auto found = std::ranges::find(threads, "takt.f0", &os::ThreadStatus::name);
  if (found == threads.end()) {
    throw std::runtime_error{"Takt's executor has no thread for its jobs"};
  }
  return found->tid;
}

void refuse_quotas(const Settings& settings, const application::Application& robot) {
  for (const application::Process& process : robot.processes) {
    const bool here = settings.host.empty() || process.host == settings.host;
    if (process.quota && here && !settings.quotas.contains(process.name)) {
      throw sched::ScheduleError("process '" + process.name + "'",
                                 "it has a quota (cpu_max), and no control group",
                                 "give it one: --quota " + process.name + "=FOLDER");
    }
  }
}

}  // namespace takt::runner
