// SPDX-License-Identifier: Apache-2.0
//
// What the threads of one executor share. Internal to the executor.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "takt/executor/options.hpp"
#include "takt/executor/plan.hpp"
#include "takt/executor/task_state.hpp"
#include "takt/trace/tracer.hpp"

namespace takt::executor {

struct Shared {
  explicit Shared(Options executor_options)
      : options(std::move(executor_options)), tasks(options.max_tasks) {}

  const Options options;
  std::vector<std::unique_ptr<TaskState>> tasks;  // by index; never resized
  std::atomic<bool> stopping{false};

  // What to follow. A switch changes only the index, which means the same in every plan.
  std::atomic<const Plan*> plan{nullptr};
  std::atomic<std::size_t> scenario{0};
  [[nodiscard]] const Target* target() const noexcept {
    const Plan* current = plan.load(std::memory_order_acquire);
    return current == nullptr ? nullptr
                              : current->targets[scenario.load(std::memory_order_acquire)].get();
  }

  std::unique_ptr<trace::Tracer> tracer;  // null: no trace

  std::mutex shortfalls_mutex;
  os::Shortfalls shortfalls;
  void add(const os::Shortfalls& more) {
    const std::lock_guard lock{shortfalls_mutex};
    shortfalls.insert(shortfalls.end(), more.begin(), more.end());
  }
};

}  // namespace takt::executor
