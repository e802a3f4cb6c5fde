// SPDX-License-Identifier: Apache-2.0
//
// Changes of the tasks of an executor: several at once take effect together, or not at all.
//
//   Changes changes;
//   changes.remove("old.a").remove("old.b").add(task, {.callback = run});
//   executor.apply(std::move(changes)).change.wait();
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

// A change that was accepted and takes effect from now on: at the next decision on each core.
class TAKT_CORE_PUBLIC Change {
 public:
  Change() = default;
  explicit Change(std::shared_future<void> done) : done_(std::move(done)) {}

  // Sleeps until every core has taken it up, the last job of each task that was removed has ended,
  // no handler is being told of it any more, and its callback is destroyed. Not from a callback or
  // handler of the same executor, which it may wait for (std::logic_error).
  void wait() const;
  [[nodiscard]] bool done() const;

 private:
  std::shared_future<void> done_;  // invalid: nothing to wait for
};

struct AddedTask {
  TaskIndex index = 0;
  ReleaseHandle release = {};  // for the front end to call
  Change change = {};
};

struct Applied {
  std::vector<AddedTask> added;  // in their order
  Change change = {};
};

// In the order of the calls; nothing is checked before Executor::apply().
class Changes {
 public:
  Changes& add(sched::Task task, Binding binding) {
    steps_.emplace_back(Add{.task = std::move(task), .binding = std::move(binding)});
    return *this;
  }
  Changes& remove(std::string_view task) {
    steps_.emplace_back(Remove{.task = std::string{task}});
    return *this;
  }
  // No releases from now on, whatever scenarios say, until it is resumed: then as if it were added.
  Changes& pause(std::string_view task) {
    steps_.emplace_back(Pause{.task = std::string{task}, .paused = true});
    return *this;
  }
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
