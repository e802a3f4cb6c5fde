// SPDX-License-Identifier: Apache-2.0
#include "keeper.hpp"

#include <algorithm>
#include <utility>

namespace takt::executor {
namespace {

constexpr std::chrono::seconds between_looks{1};

}  // namespace

void Executor::Keeper::start() {
  ends_.store(false);
  throttling_.watch(shared_.options.cpus);
  cpu_times_.resize(shared_.options.cpus.size());
  // All of it is in memory where the process locks that: as much as what it calls needs.
  const os::ThreadSettings settings{.name = "takt.keeper", .stack = std::size_t{512} * 1024};
  thread_ = std::make_unique<os::Thread>(settings, [this] { run(); });
}

void Executor::Keeper::stop() noexcept {
  ends_.store(true);
  shared_.keeper.notify();
  if (thread_) {
    thread_->join();
    thread_.reset();
  }
}

void Executor::Keeper::run() noexcept {
  const bool watches = shared_.options.real_time && Throttling::possible();
  while (!ends_.load()) {
    if (watches) {
      shared_.keeper.wait_until(os::now() + between_looks);
      count_cpu_times();
      if (const auto refused_setting = throttling_.look(cpu_times_, os::now())) {
        shared_.add({*refused_setting});
      }
    } else {
      shared_.keeper.wait();
    }
    announce_not_granted(shared_.options, shared_.take_unreported());
    retire(false);
  }
}

void Executor::Keeper::count_cpu_times() noexcept {
  const std::vector<int>& cpus = shared_.options.cpus;
  std::ranges::fill(cpu_times_, std::chrono::nanoseconds{0});
  const std::size_t crews = shared_.crews_used.load();
  for (std::size_t i = 0; i < crews; ++i) {
    if (Crew* const crew = shared_.crews[i].load()) {
      const auto core =
          static_cast<std::size_t>(std::ranges::find(cpus, crew->cpu()) - cpus.begin());
      if (core < cpu_times_.size()) {
        cpu_times_[core] += crew->cpu_time();
      }
    }
  }
}

Change Executor::Keeper::publish(std::unique_ptr<sched::CompiledApplication> compiled,
                                 std::vector<TaskIndex> removed,
                                 std::unique_lock<PriorityMutex>& lock) {
  Retirement retirement{.version = registry_.version, .tasks = std::move(removed), .done = {}};
  Change change{retirement.done.get_future().share()};
  const bool nobody_runs = registry_.phase == Registry::Phase::idle;
  retirements_.push_back(std::move(retirement));
  if (compiled) {
    shared_.retiring.store(true);
    registry_.applications.push_back(std::move(compiled));
    const sched::CompiledApplication& current = *registry_.applications.back();
    const os::TimePoint now = os::now();
    shared_.compiled.store(&current);
    for (const auto& crew : registry_.crews) {
      if (registry_.has_set_off) {
        crew->begin(*shared_.target(), now);
      }
      crew->wake_to_follow();
    }
  }
  lock.unlock();
  if (nobody_runs) {
    retire(true);
  } else {
    shared_.keeper.notify();
  }
  return change;
}

bool Executor::Keeper::is_over(const Retirement& retirement) const noexcept {
  return std::ranges::all_of(registry_.crews,
                             [&](const auto& crew) { return crew->follows(retirement.version); }) &&
         std::ranges::all_of(retirement.tasks, [&](TaskIndex index) {
           const TaskState& state = *shared_.tasks[index];
           Crew* const crew = state.crew.load();
           return crew == nullptr || crew->has_left(state, retirement.version);
         });
}

bool Executor::Keeper::in_use(const sched::CompiledApplication& compiled) const noexcept {
  return &compiled == registry_.applications.back().get() ||
         std::ranges::any_of(registry_.crews,
                             [&](const auto& crew) { return crew->uses(compiled); });
}

void Executor::Keeper::retire(bool all) noexcept {
  std::vector<Retirement> over;
  std::vector<Binding> bindings;
  std::vector<std::unique_ptr<sched::CompiledApplication>> applications;
  std::vector<Crew*> idle;
  {
    const std::lock_guard lock{registry_.mutex};
    for (auto at = retirements_.begin(); at != retirements_.end();) {
      if (!all && !is_over(*at)) {
        ++at;
        continue;
      }
      for (const TaskIndex index : at->tasks) {
        TaskState& state = *shared_.tasks[index];
        bindings.push_back(std::exchange(state.binding, {}));
        state.group = 0;
        if (state.own_crew && state.crew.load() != nullptr) {
          idle.push_back(state.crew.load());
        }
      }
      over.push_back(std::move(*at));
      at = retirements_.erase(at);
    }
    if (!all && registry_.applications.size() > 1) {  // the newest is in use
      const auto used = std::ranges::stable_partition(
          registry_.applications, [&](const auto& compiled) { return !in_use(*compiled); });
      applications.assign(std::make_move_iterator(registry_.applications.begin()),
                          std::make_move_iterator(used.begin()));
      registry_.applications.erase(registry_.applications.begin(), used.begin());
    }
    shared_.retiring.store(!retirements_.empty() || registry_.applications.size() > 1);
    if (!over.empty() && registry_.is_live()) {  // a start sets groups
      forget_groups();
    }
  }
  for (Crew* const crew : idle) {
    crew->dismiss();
  }
  bindings.clear();      // destroys callbacks, which may call the executor
  applications.clear();  // whoever waits for the change finds all of it gone
  {
    const std::lock_guard lock{registry_.mutex};
    for (const Retirement& retirement : over) {
      registry_.free.insert(registry_.free.end(), retirement.tasks.begin(), retirement.tasks.end());
    }
  }
  for (Retirement& retirement : over) {
    retirement.done.set_value();
  }
}

// Of whoever makes groups without end, and lets go of them.
void Executor::Keeper::forget_groups() {
  std::vector<std::uint32_t> used;
  for (TaskIndex index = 0; index < registry_.tasks.size(); ++index) {
    if (shared_.tasks[index]->group != 0) {
      used.push_back(shared_.tasks[index]->group);
    }
  }
  std::ranges::sort(used);
  registry_.forget_other_groups(used);
}

void Executor::Keeper::retire_all() noexcept {
  retire(true);
}

}  // namespace takt::executor
