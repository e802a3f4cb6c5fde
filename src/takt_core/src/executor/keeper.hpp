// SPDX-License-Identifier: Apache-2.0
//
// The executor's housekeeping, in a thread of the lowest urgency: frees what is no longer in use
// (former compiled applications, removed tasks), completes the changes that wait for it, and
// notices a core that the kernel's real-time throttling takes from its tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "registry.hpp"
#include "shared.hpp"
#include "takt/executor/changes.hpp"
#include "takt/os/thread.hpp"
#include "throttling.hpp"

namespace takt::executor {

// Reports settings that were not granted to Options::on_not_granted, or to standard error.
void announce_not_granted(const Options& options, const os::SettingsNotGranted& not_granted);

class Executor::Keeper {
 public:
  Keeper(Shared& shared, Registry& registry) : shared_(shared), registry_(registry) {}

  // Throws std::system_error.
  void start();
  void stop() noexcept;

  // Makes the crews follow the compiled application (null: the executor is not started), without
  // the tasks that it removes. `lock` holds the registry's mutex.
  Change publish(std::unique_ptr<sched::CompiledApplication> compiled,
                 std::vector<TaskIndex> removed, std::unique_lock<PriorityMutex>& lock);

  // Frees everything, when no crew has a thread any more.
  void retire_all() noexcept;

 private:
  struct Retirement {
    std::uint64_t version = 0;  // the first compiled application without them
    std::vector<TaskIndex> tasks;
    std::promise<void> done;
  };

  void run() noexcept;
  // Takes out what is no longer in use; destroys it without the mutex.
  void retire(bool all) noexcept;
  void forget_groups();
  void count_cpu_times() noexcept;
  [[nodiscard]] bool is_over(const Retirement& retirement) const noexcept;
  [[nodiscard]] bool in_use(const sched::CompiledApplication& compiled) const noexcept;

  Shared& shared_;
  Registry& registry_;
  std::vector<Retirement> retirements_;  // guarded by the registry's mutex
  Throttling throttling_;
  std::vector<std::chrono::nanoseconds> cpu_times_;  // of the crews of each core
  std::atomic<bool> ends_{false};
  std::unique_ptr<os::Thread> thread_;
};

}  // namespace takt::executor
