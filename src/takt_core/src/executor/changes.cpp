// SPDX-License-Identifier: Apache-2.0
//
// Changes of the tasks while the executor lives: staged, checked as a whole, published in one step;
// undone where anything of it is refused.
#include "takt/executor/changes.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

#include "keeper.hpp"
#include "registry.hpp"
#include "takt/executor/executor.hpp"
#include "takt/sched/error.hpp"

namespace takt::executor {

void Change::wait() const {
  if (Crew::current() != nullptr) {
    throw std::logic_error{
        "Change::wait may wait for the very callback that calls it; let the change take effect by "
        "itself, or wait in another thread"};
  }
  if (done_.valid()) {
    done_.wait();
  }
}

bool Change::done() const {
  return !done_.valid() || done_.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

// What was done to the registry, to be undone in reverse order.
class Executor::Staged {
 public:
  // What is undone is destroyed with the graveyard: callbacks may call the executor then.
  Staged(Shared& shared, Registry& registry, std::vector<Binding>& graveyard)
      : shared_(shared), registry_(registry), graveyard_(graveyard) {}
  ~Staged() {
    for (; !undo_.empty(); undo_.pop_back()) {
      undo_.back()();
    }
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  Staged(Staged&&) = delete;
  Staged& operator=(Staged&&) = delete;

  void add(Changes::Add& step) {
    check_binding(step.task, step.binding);
    refuse_second(step.task);
    const TaskIndex index = take_index(step.task, step.task.waits || step.binding.kernel_deadline);
    registry_.tasks[index] = step.task;
    registry_.by_name.emplace(step.task.name, index);
    undo_.emplace_back([this, name = step.task.name] { registry_.by_name.erase(name); });
    auto& state = shared_.tasks[index];
    if (!state) {
      state = std::make_unique<TaskState>();
      shared_.core_tasks[index] = state.get();
    }
    state->crew.store(nullptr);
    state->trace_id = trace::no_task;
    state->reset(index, step.task, std::move(step.binding));
    undo_.emplace_back([this, &state] {
      state->generation.fetch_add(1);
      graveyard_.push_back(std::exchange(state->binding, {}));
    });
    added.push_back(index);
  }

  void remove(const std::string& name) {
    const TaskIndex index = registry_.index_of(name);
    undo_.emplace_back([this, index, former = registry_.tasks[index], name] {
      registry_.tasks[index] = former;
      registry_.by_name.emplace(name, index);
    });
    registry_.tasks[index] = vacancy_of(index);
    registry_.by_name.erase(name);
    removed.push_back(index);
  }

  void pause(const std::string& name, bool paused) {
    const TaskIndex index = registry_.index_of(name);
    undo_.emplace_back([this, index, before = registry_.tasks[index].paused] {
      registry_.tasks[index].paused = before;
    });
    registry_.tasks[index].paused = paused;
  }

  // Sources of what is added tell from now on.
  void arm(TaskIndex index, const ReleaseHandle& release) {
    JobSource* const source = shared_.tasks[index]->binding.source.get();
    if (source != nullptr) {
      source->arm(release);
      undo_.emplace_back([source] { source->disarm(); });
    }
  }

  void commit() noexcept { undo_.clear(); }

  std::vector<TaskIndex> added;
  std::vector<TaskIndex> removed;

 private:
  void refuse_second(const sched::Task& task) const {
    if (registry_.by_name.contains(task.name)) {
      throw sched::ScheduleError("task '" + task.name + "'", "another task has this name",
                                 "give each task a name of its own, such as 'node.callback'");
    }
  }

  // A task that is alone has a crew, which stays with its index: the next one takes it, not others.
  [[nodiscard]] std::deque<TaskIndex>::iterator longest_free(bool alone) const {
    const std::size_t cores = shared_.options.cpus.size();
    const auto found = std::ranges::find_if(registry_.free, [&](TaskIndex index) {
      return (shared_.crews[cores + index].load() != nullptr) == alone;
    });
    return found == registry_.free.end() ? registry_.free.begin() : found;
  }

  TaskIndex take_index(const sched::Task& task, bool alone) {
    if (!registry_.free.empty()) {
      const auto chosen = longest_free(alone);
      const TaskIndex index = *chosen;
      registry_.free.erase(chosen);
      undo_.emplace_back([this, index] {
        registry_.tasks[index] = vacancy_of(index);
        registry_.free.push_front(index);
      });
      return index;
    }
    const auto index = static_cast<TaskIndex>(registry_.tasks.size());
    if (index >= shared_.options.max_tasks) {
      throw std::length_error{"task '" + task.name + "' is one more than Options::max_tasks (" +
                              std::to_string(shared_.options.max_tasks) +
                              ") at the same time; raise it"};
    }
    registry_.tasks.push_back(vacancy_of(index));
    undo_.emplace_back([this] { registry_.tasks.pop_back(); });
    return index;
  }

  Shared& shared_;
  Registry& registry_;
  std::vector<Binding>& graveyard_;
  std::vector<std::function<void()>> undo_;
};

Applied Executor::apply(Changes changes) {
  std::vector<Binding> graveyard;
  std::unique_lock lock{registry_->mutex};
  registry_->phase_changed.wait(lock,
                                [this] { return registry_->phase != Registry::Phase::starting; });
  Staged staged{*shared_, *registry_, graveyard};
  for (auto& step : changes.steps_) {
    if (auto* const add = std::get_if<Changes::Add>(&step)) {
      staged.add(*add);
    } else if (const auto* const remove = std::get_if<Changes::Remove>(&step)) {
      staged.remove(remove->task);
    } else {
      const auto& pause = std::get<Changes::Pause>(step);
      staged.pause(pause.task, pause.paused);
    }
  }
  make_room_for_notes();
  Applied applied;
  for (const TaskIndex index : staged.added) {
    TaskState& state = *shared_->tasks[index];
    applied.added.push_back(
        {.index = index, .release = {*shared_, state, state.generation.load()}, .change = {}});
  }
  const bool live = registry_->phase == Registry::Phase::running;
  std::unique_ptr<sched::CompiledApplication> compiled;
  if (live && !changes.steps_.empty()) {
    compiled = compile();
    for (const TaskIndex index : staged.added) {
      prepare_task(index, *compiled);
    }
    prepare_crews(*compiled);
    for (const AddedTask& added : applied.added) {
      staged.arm(added.index, added.release);
    }
  }
  // Nothing is refused from here on.
  staged.commit();
  for (const TaskIndex index : staged.removed) {
    TaskState& state = *shared_->tasks[index];
    if (state.binding.source && registry_->phase != Registry::Phase::idle) {
      state.binding.source->disarm();
    }
    state.generation.fetch_add(1);
  }
  applied.change = keeper_->publish(std::move(compiled), staged.removed, lock);
  for (AddedTask& added : applied.added) {
    added.change = applied.change;
  }
  return applied;
}

AddedTask Executor::add(const sched::Task& task, Binding binding) {
  return apply(std::move(Changes{}.add(task, std::move(binding)))).added.front();
}

Change Executor::remove(std::string_view name) {
  return apply(std::move(Changes{}.remove(name))).change;
}

Change Executor::pause(std::string_view name) {
  return apply(std::move(Changes{}.pause(name))).change;
}

Change Executor::resume(std::string_view name) {
  return apply(std::move(Changes{}.resume(name))).change;
}

}  // namespace takt::executor
