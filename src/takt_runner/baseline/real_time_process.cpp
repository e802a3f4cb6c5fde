// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <takt/baseline/real_time_process.hpp>
#include <takt/os/thread.hpp>

namespace takt::baseline {
namespace {

bool set_all(int policy, int priority, const cpu_set_t& cores) {
  const sched_param parameters{.sched_priority = priority};
  bool obtained = true;
  for (const os::ThreadStatus& thread : os::process_threads()) {
    if (thread.name == "takt.trace" || thread.name.starts_with("dds.asyn")) {
      continue;
    }
    obtained = sched_setaffinity(thread.tid, sizeof cores, &cores) == 0 && obtained;
    obtained = sched_setscheduler(thread.tid, policy, &parameters) == 0 && obtained;
  }
  return obtained;
}

}  // namespace

RealTimeProcess::RealTimeProcess(int priority, const std::vector<int>& cpus) noexcept {
  sched_getaffinity(0, sizeof before_, &before_);
  cpu_set_t cores = before_;
  if (!cpus.empty()) {
    CPU_ZERO(&cores);
    for (const int cpu : cpus) {
      CPU_SET(static_cast<std::size_t>(cpu), &cores);
    }
  }
  obtained_ = set_all(SCHED_FIFO, priority, cores);
}

RealTimeProcess::~RealTimeProcess() {
  set_all(SCHED_OTHER, 0, before_);
}

}  // namespace takt::baseline
