// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "takt/os/thread.hpp"

namespace takt::os {
namespace {

SchedulingPolicy from_kernel(int policy) noexcept {
  switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
      return SchedulingPolicy::other;
    case SCHED_FIFO:
      return SchedulingPolicy::fifo;
    case SCHED_RR:
      return SchedulingPolicy::rr;
    case SCHED_BATCH:
      return SchedulingPolicy::batch;
    case SCHED_IDLE:
      return SchedulingPolicy::idle;
    case SCHED_DEADLINE:
      return SchedulingPolicy::deadline;
    default:
      return SchedulingPolicy::unknown;
  }
}

std::vector<int> cpus_of(pid_t tid) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(tid, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) {
        cpus.push_back(cpu);
      }
    }
  }
  return cpus;
}

}  // namespace

SchedulingPolicy policy_of(pid_t tid) noexcept {
  const int policy = sched_getscheduler(tid);
  return policy < 0 ? SchedulingPolicy::unknown : from_kernel(policy);
}

std::optional<ThreadStatus> thread_status(pid_t tid) {
  std::ifstream file{"/proc/self/task/" + std::to_string(tid) + "/comm"};
  ThreadStatus status{.tid = tid, .name = {}, .cpus = {}};
  sched_param parameters{};
  if (!std::getline(file, status.name) || sched_getscheduler(tid) < 0 ||
      sched_getparam(tid, &parameters) != 0) {
    return {};
  }
  status.policy = policy_of(tid);
  status.priority = parameters.sched_priority;
  status.cpus = cpus_of(tid);
  return status;
}

ThreadStatus current_thread() {
  return thread_status(gettid()).value_or(ThreadStatus{});
}

std::vector<ThreadStatus> process_threads() {
  std::vector<ThreadStatus> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task", error}) {
    const std::string text = entry.path().filename();
    pid_t tid = 0;
    std::from_chars(text.data(), text.data() + text.size(), tid);
    if (auto status = thread_status(tid)) {  // a thread may end while the list is read
      threads.push_back(*std::move(status));
    }
  }
  std::ranges::sort(threads, {}, &ThreadStatus::tid);
  return threads;
}

}  // namespace takt::os
