// SPDX-License-Identifier: Apache-2.0
//
// The state that the threads of one executor share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "monitor.hpp"
#include "note.hpp"
#include "takt/executor/detail/table.hpp"
#include "takt/executor/options.hpp"
#include "takt/os/event.hpp"
#include "takt/trace/tracer.hpp"
#include "task_state.hpp"

namespace takt::executor {

struct Shared {
  explicit Shared(Options executor_options)
      : options(std::move(executor_options)), handlers(options.handlers) {
    crews.grow_to(options.cpus.size());
  }

  const Options options;
  Handlers handlers;                        // do not change after the start
  Table<std::unique_ptr<TaskState>> tasks;  // by index
  // The crews of the cores, in the order of Options::cpus, then those of tasks with a crew of their
  // own, by task index. Null: not created. They exist as long as the executor.
  Table<std::atomic<Crew*>> crews;
  std::atomic<std::size_t> crews_used{0};  // all later entries are null
  NotePool notes;
  Inbox early;  // notes from before the start
  void repost_early() noexcept;
  std::atomic<bool> stopping{false};
  std::atomic<os::TimePoint> end{os::TimePoint::max()};  // nothing is released from then on

  // The target to follow. A switch changes only the index, which means the same in every compiled
  // application.
  std::atomic<const sched::CompiledApplication*> compiled{nullptr};
  std::atomic<std::size_t> scenario{0};
  [[nodiscard]] const Target* target() const noexcept {
    const sched::CompiledApplication* current = compiled.load();
    return current == nullptr ? nullptr : current->targets[scenario.load()].get();
  }

  // A former compiled application or task waits until it is no longer in use: progress() notifies
  // the keeper of a change in that.
  std::atomic<bool> retiring{false};
  os::ThreadEvent keeper;
  void progress() noexcept {
    if (retiring.load(std::memory_order_relaxed)) {
      keeper.notify();
    }
  }

  std::unique_ptr<Monitor> monitor;       // null: no limits; does not change after the start
  std::unique_ptr<trace::Tracer> tracer;  // null: no trace

  mutable std::mutex mutex;  // guards the three below
  os::SettingsNotGranted not_granted;
  std::size_t reported = 0;    // how many of them were reported to the user
  std::exception_ptr failure;  // the first exception that left a callback
  std::function<void()> request_stop;
  void fail(std::exception_ptr exception) noexcept {
    {
      const std::lock_guard lock{mutex};
      failure = failure ? failure : std::move(exception);
    }
    request_stop();
  }
  // Each once: threads that come and go lack the same, and the list has an end.
  void add(const os::SettingsNotGranted& more) {
    const std::lock_guard lock{mutex};
    for (const os::NotGranted& one : more) {
      if (std::ranges::find(not_granted, one) == not_granted.end()) {
        not_granted.push_back(one);
      }
    }
  }
  // The settings that were not granted and have not been reported to the user.
  [[nodiscard]] os::SettingsNotGranted take_unreported() {
    const std::lock_guard lock{mutex};
    os::SettingsNotGranted unreported{
        std::next(not_granted.begin(), static_cast<std::ptrdiff_t>(reported)), not_granted.end()};
    reported = not_granted.size();
    return unreported;
  }
};

}  // namespace takt::executor
