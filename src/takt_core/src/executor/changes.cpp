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
#include "takt/os/memory.hpp"
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

namespace {

// Without the lock: a component brings its library, and allocates.
void populate(std::unique_lock<PriorityMutex>& lock) {
  if (lock.owns_lock()) {
    lock.unlock();
  }
  os::populate_memory();
}

// Sources that are disarmed when the lock is free again.
class Farewells {
 public:
  Farewells() = default;
  ~Farewells() {
    for (const auto& source : sources) {
      source->disarm();
    }
  }
  Farewells(const Farewells&) = delete;
  Farewells& operator=(const Farewells&) = delete;
  Farewells(Farewells&&) = delete;
  Farewells& operator=(Farewells&&) = delete;

  std::vector<std::shared_ptr<JobSource>> sources;
};

}  // namespace

// What was done to the registry, to be undone in reverse order. While sources are armed, without
// the lock, others see nothing of it: what was entered is taken back, and entered again afterwards.
class Executor::Staged {
 public:
  // What is undone is destroyed with the graveyard: callbacks may call the executor then.
  Staged(Shared& shared, Registry& registry, std::vector<Binding>& graveyard)
      : shared_(shared), registry_(registry), graveyard_(graveyard) {}
  ~Staged() {
    undo(entered_);
    forget_coming();
    undo(reserved_);
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  Staged(Staged&&) = delete;
  Staged& operator=(Staged&&) = delete;

  // A place for a task that is added, which nobody else gets meanwhile. Its name may still be that
  // of one that goes.
  void reserve(Changes::Add& step) {
    check_binding(step.task, step.binding);
    const TaskIndex index = take_index(step.task, step.task.waits || step.binding.kernel_deadline);
    auto& state = shared_.tasks[index];
    if (!state) {
      state = std::make_unique<TaskState>();
    }
    state->crew.store(nullptr);
    state->trace_id = trace::no_task;
    state->reset(index, step.task, std::move(step.binding));
    reserved_.emplace_back([this, &state] {
      state->generation.fetch_add(1);
      graveyard_.push_back(std::exchange(state->binding, {}));
    });
    added.push_back({.index = index, .task = step.task});
  }

  // All of it; throws where what others did meanwhile does not allow for it.
  void enter(const Changes& changes) {
    forget_coming();
    removed.clear();
    auto next = added.begin();
    for (const auto& step : changes.steps_) {
      if (std::holds_alternative<Changes::Add>(step)) {
        enter(*next++);
      } else if (const auto* const remove = std::get_if<Changes::Remove>(&step)) {
        take_out(remove->task);
      } else {
        const auto& pause = std::get<Changes::Pause>(step);
        set_paused(pause.task, pause.paused);
      }
    }
  }

  // Takes back what was entered. Nobody else may take the names, and find() knows them.
  void withdraw() {
    for (Added& each : added) {
      each.task.cpu = registry_.tasks[each.index].cpu;  // where it is, it stays
      registry_.coming.emplace(each.task.name, each.index);
    }
    announced_ = true;
    undo(entered_);
  }

  void commit() noexcept {
    entered_.clear();
    reserved_.clear();
  }

  struct Added {
    TaskIndex index;
    sched::Task task;
  };
  std::vector<Added> added;
  std::vector<TaskIndex> removed;

 private:
  using Undo = std::vector<std::function<void()>>;

  static void undo(Undo& steps) {
    for (; !steps.empty(); steps.pop_back()) {
      steps.back()();
    }
  }

  void enter(const Added& each) {
    refuse_second(each.task);
    registry_.tasks[each.index] = each.task;
    registry_.by_name.emplace(each.task.name, each.index);
    entered_.emplace_back([this, index = each.index, name = each.task.name] {
      registry_.tasks[index] = vacancy_of(index);
      registry_.by_name.erase(name);
    });
  }

  void take_out(const std::string& name) {
    const TaskIndex index = registry_.index_of(name);
    entered_.emplace_back([this, index, former = registry_.tasks[index], name] {
      registry_.tasks[index] = former;
      registry_.by_name.emplace(name, index);
    });
    registry_.tasks[index] = vacancy_of(index);
    registry_.by_name.erase(name);
    removed.push_back(index);
  }

  void set_paused(const std::string& name, bool paused) {
    const TaskIndex index = registry_.index_of(name);
    entered_.emplace_back([this, index, before = registry_.tasks[index].paused] {
      registry_.tasks[index].paused = before;
    });
    registry_.tasks[index].paused = paused;
  }

  void forget_coming() {
    for (const Added& each : added) {
      if (announced_) {
        registry_.coming.erase(each.task.name);
      }
    }
    announced_ = false;
  }

  void refuse_second(const sched::Task& task) const {
    if (registry_.by_name.contains(task.name) || registry_.coming.contains(task.name)) {
      throw sched::ScheduleError("task '" + task.name + "'", "another task has this name",
                                 "give each task a name of its own, such as 'node.callback'");
    }
  }

  // A task that is alone has a crew, which stays with its index: the next one takes it, not others.
  [[nodiscard]] std::deque<TaskIndex>::iterator longest_free(bool own_crew) const {
    const std::size_t cores = shared_.options.cpus.size();
    const auto found = std::ranges::find_if(registry_.free, [&](TaskIndex index) {
      return (shared_.crews[cores + index].load() != nullptr) == own_crew;
    });
    return found == registry_.free.end() ? registry_.free.begin() : found;
  }

  TaskIndex take_index(const sched::Task& task, bool own_crew) {
    if (!registry_.free.empty()) {
      const auto chosen = longest_free(own_crew);
      const TaskIndex index = *chosen;
      registry_.free.erase(chosen);
      reserved_.emplace_back([this, index] { registry_.free.push_front(index); });
      return index;
    }
    const auto index = static_cast<TaskIndex>(registry_.tasks.size());
    if (!shared_.options.trace.empty() && index >= trace::no_task) {
      throw sched::ScheduleError(
          "task '" + task.name + "'",
          "a trace has numbers for " + std::to_string(trace::no_task) + " tasks at the same time",
          "leave the trace out, or spread the tasks over several executors");
    }
    shared_.tasks.grow_to(index + std::size_t{1});
    shared_.crews.grow_to(shared_.options.cpus.size() + index + 1);
    registry_.tasks.push_back(vacancy_of(index));
    reserved_.emplace_back([this, index] {
      if (index + std::size_t{1} == registry_.tasks.size()) {
        registry_.tasks.pop_back();
      } else {  // others have come behind it
        registry_.free.push_front(index);
      }
    });
    return index;
  }

  Shared& shared_;
  Registry& registry_;
  std::vector<Binding>& graveyard_;
  Undo reserved_;
  Undo entered_;
  bool announced_ = false;
};

// Null where nobody runs them.
std::unique_ptr<sched::CompiledApplication> Executor::prepare(const Staged& staged) {
  make_room_for_notes();
  if (!registry_->is_live()) {
    return nullptr;
  }
  auto compiled = compile();
  for (const Staged::Added& each : staged.added) {
    prepare_task(each.index, *compiled);
  }
  prepare_crews(*compiled);
  return compiled;
}

Applied Executor::apply(Changes changes) {
  // Destroyed when the lock is free: callbacks and sources may call the executor then.
  std::vector<Binding> graveyard;
  Farewells farewells;
  std::unique_lock lock{registry_->mutex};
  registry_->wait_until_built(lock);
  Staged staged{*shared_, *registry_, graveyard};
  for (auto& step : changes.steps_) {
    if (auto* const add = std::get_if<Changes::Add>(&step)) {
      staged.reserve(*add);
    }
  }
  staged.enter(changes);
  auto compiled = changes.steps_.empty() ? nullptr : prepare(staged);
  Applied applied;
  std::vector<std::pair<std::shared_ptr<JobSource>, ReleaseHandle>> sources;
  for (const Staged::Added& each : staged.added) {
    TaskState& state = *shared_->tasks[each.index];
    const ReleaseHandle release{*shared_, state, state.generation.load()};
    applied.added.push_back({.index = each.index, .release = release, .change = {}});
    if (compiled && state.binding.source) {
      sources.emplace_back(state.binding.source, release);
    }
  }
  if (!sources.empty()) {
    farewells.sources.reserve(sources.size() + staged.removed.size());
    staged.withdraw();
    lock.unlock();
    try {
      for (const auto& [source, release] : sources) {
        source->arm(release);
        farewells.sources.push_back(source);
      }
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
    registry_->wait_until_built(lock);
    staged.enter(changes);
    if (!registry_->is_live() || registry_->version != compiled->version) {
      compiled = prepare(staged);  // others have changed something meanwhile
    }
  }
  // Nothing is refused from here on.
  staged.commit();
  if (compiled) {
    farewells.sources.clear();
    for (const auto& [source, release] : sources) {
      release.task_->armed = true;
    }
  }
  for (const TaskIndex index : staged.removed) {
    TaskState& state = *shared_->tasks[index];
    if (std::exchange(state.armed, false)) {
      farewells.sources.push_back(state.binding.source);
    }
    state.generation.fetch_add(1);
  }
  const bool live = compiled != nullptr;
  applied.change = keeper_->publish(std::move(compiled), staged.removed, lock);
  if (live && shared_->options.real_time) {
    populate(lock);
  }
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
