// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstddef>
#include <takt/baseline/real_time_process.hpp>
#include <takt/os/thread.hpp>

namespace takt::baseline {
namespace {

// Fast DDS's, of what nobody waits for.
bool sends_unasked(const os::ThreadStatus& thread) {
  return thread.name.starts_with("dds.asyn");
}

bool set_all(int policy, int priority, const cpu_set_t& cores) {
  const sched_param parameters{.sched_priority = priority};
  bool granted = true;
  for (const os::ThreadStatus& thread : os::process_threads()) {
    if (thread.name == "takt.trace" || sends_unasked(thread)) {
      continue;
    }
    granted = sched_setaffinity(thread.tid, sizeof cores, &cores) == 0 && granted;
    granted = sched_setscheduler(thread.tid, policy, &parameters) == 0 && granted;
  }
  return granted;
}

cpu_set_t set_of(const std::vector<int>& cpus) noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const int cpu : cpus) {
    CPU_SET(static_cast<std::size_t>(cpu), &cores);
  }
  return cores;
}

}  // namespace

RealTimeProcess::RealTimeProcess(int priority, const std::vector<int>& cpus) noexcept {
  sched_getaffinity(0, sizeof before_, &before_);
  const cpu_set_t cores = cpus.empty() ? before_ : set_of(cpus);
  granted_ = set_all(SCHED_FIFO, priority, cores);
}

RealTimeProcess::~RealTimeProcess() {
  set_all(SCHED_OTHER, 0, before_);
}

void raise_middleware(int priority, const std::vector<int>& cpus) noexcept {
  const sched_param parameters{.sched_priority = priority};
  const pid_t self = gettid();
  for (const os::ThreadStatus& thread : os::process_threads()) {
    if (thread.tid != self && !thread.name.starts_with("takt.") && !sends_unasked(thread)) {
      sched_setscheduler(thread.tid, SCHED_FIFO, &parameters);
      if (!cpus.empty()) {
        const cpu_set_t cores = set_of(cpus);
        sched_setaffinity(thread.tid, sizeof cores, &cores);
      }
    }
  }
}

}  // namespace takt::baseline
