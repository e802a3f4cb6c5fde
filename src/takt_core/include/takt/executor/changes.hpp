// SPDX-License-Identifier: Apache-2.0
/// @file
/// Changes to the tasks of an executor: several changes take effect together, or none does.
///
/// ```cpp
/// Changes changes;
/// changes.remove("old.a").remove("old.b").add(task, {.callback = run});
/// executor.apply(std::move(changes)).change.wait();
/// ```
#pragma once

#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "takt/executor/options.hpp"
#include "takt/executor/release_handle.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// An accepted change. It takes effect on each core at the next scheduling decision.
class TAKT_CORE_PUBLIC Change {
 public:
  Change() = default;

  /// Made by the executor; `done` becomes ready when the change is complete.
  explicit Change(std::shared_future<void> done) : done_(std::move(done)) {}

  /// Sleeps until the change is complete: every core follows it, the last job of each removed task
  /// has ended, no handler runs for a removed task any more, and the callbacks of removed tasks are
  /// destroyed.
  /// @throws std::logic_error from a callback or handler of the same executor, which the change may
  /// depend on.
  void wait() const;

  /// Whether wait() would return at once.
  [[nodiscard]] bool done() const;

 private:
  std::shared_future<void> done_;  ///< invalid: nothing to wait for
};

/// The result of adding one task.
struct AddedTask {
  TaskIndex index = 0;         ///< Index of the task until it is removed.
  ReleaseHandle release = {};  ///< Lets the front end release the task.
  Change change = {};          ///< The change that added it.
};

/// The result of Executor::apply().
struct Applied {
  std::vector<AddedTask> added;  ///< In the order of Changes::add().
  Change change = {};            ///< All changes together.
};

/// A list of changes that Executor::apply() carries out in the order of the calls. Nothing is
/// checked before that.
class Changes {
 public:
  /// Adds a task. Its name must be unique; a name that an earlier step removes is free again.
  Changes& add(sched::Task task, Binding binding) {
    steps_.emplace_back(Add{.task = std::move(task), .binding = std::move(binding)});
    return *this;
  }

  /// Removes a task by its name. A running job ends; a pending one is dropped.
  Changes& remove(std::string_view task) {
    steps_.emplace_back(Remove{.task = std::string{task}});
    return *this;
  }

  /// Stops the releases of a task, whatever scenarios say, until it is resumed.
  Changes& pause(std::string_view task) {
    steps_.emplace_back(Pause{.task = std::string{task}, .paused = true});
    return *this;
  }

  /// Undoes pause(): releases begin as if the task were added now.
  Changes& resume(std::string_view task) {
    steps_.emplace_back(Pause{.task = std::string{task}, .paused = false});
    return *this;
  }

 private:
  friend class Executor;
  struct Add {
    sched::Task task;
    Binding binding;
  };
  struct Remove {
    std::string task;
  };
  struct Pause {
    std::string task;
    bool paused;
  };
  std::vector<std::variant<Add, Remove, Pause>> steps_;
};

}  // namespace takt::executor
