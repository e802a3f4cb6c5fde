// SPDX-License-Identifier: Apache-2.0
//
// What the threads of one executor share.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

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
  // The cores', in the order of Options::cpus, then by the index of the task that has one for
  // itself. Null: none yet. They live as long as the executor.
  Table<std::atomic<Crew*>> crews;
  std::atomic<std::size_t> crews_used{0};  // there are none from here on
  NotePool notes;
  Inbox early;  // what came before the start
  void repost_early() noexcept;
  std::atomic<bool> stopping{false};

  // What to follow. A switch changes only the index, which means the same in every compiled
  // application.
  std::atomic<const sched::CompiledApplication*> compiled{nullptr};
  std::atomic<std::size_t> scenario{0};
  [[nodiscard]] const Target* target() const noexcept {
    const sched::CompiledApplication* current = compiled.load();
    return current == nullptr ? nullptr : current->targets[scenario.load()].get();
  }

  // A former compiled application or task may be given back when nobody uses it any more: tells the
  // keeper that something has changed there.
  std::atomic<bool> retiring{false};
  os::ThreadEvent keeper;
  void progress() noexcept {
    if (retiring.load(std::memory_order_relaxed)) {
      keeper.notify();
    }
  }

  std::unique_ptr<trace::Tracer> tracer;  // null: no trace

  mutable std::mutex mutex;  // guards the three below
  os::Shortfalls shortfalls;
  std::size_t told = 0;        // of them, to the user
  std::exception_ptr failure;  // what left a callback, the first
  std::function<void()> request_stop;
  void fail(std::exception_ptr exception) noexcept {
    {
      const std::lock_guard lock{mutex};
      failure = failure ? failure : std::move(exception);
    }
    request_stop();
  }
  void add(const os::Shortfalls& more) {
    const std::lock_guard lock{mutex};
    shortfalls.insert(shortfalls.end(), more.begin(), more.end());
  }
  // Those of which the user has not been told.
  [[nodiscard]] os::Shortfalls take_untold() {
    const std::lock_guard lock{mutex};
    os::Shortfalls untold{std::next(shortfalls.begin(), static_cast<std::ptrdiff_t>(told)),
                          shortfalls.end()};
    told = shortfalls.size();
    return untold;
  }
};

}  // namespace takt::executor
