// SPDX-License-Identifier: Apache-2.0
//
// The part of the executor that brings up what its tasks run on, and takes it down again.
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "crew.hpp"
#include "keeper.hpp"
#include "registry.hpp"
#include "shared.hpp"
#include "takt/executor/executor.hpp"
#include "takt/os/memory.hpp"
#include "takt/os/saturating.hpp"
#include "takt/os/usage.hpp"
#include "takt/sched/error.hpp"
#include "takt/trace/declared.hpp"

namespace takt::executor {
namespace {

// Between the start of the threads and the first release: time enough to fall asleep first.
constexpr std::chrono::milliseconds lead{1};

// Notes for what no queue has room for: timers that are set, data that is wanted.
constexpr std::size_t notes_besides_arrivals = 1024;

bool is_fixed(const sched::CompiledApplication& compiled) {
  return std::ranges::all_of(compiled.strategy.scenarios(), [](const auto& scenario) {
    return scenario.policy().fixed_priority() && scenario.policy().preemptive();
  });
}

// "trace.takttrace" for the first start, "trace-2.takttrace" for the second.
std::filesystem::path trace_path(const std::filesystem::path& path, std::uint64_t starts) {
  if (starts < 2) {
    return path;
  }
  std::filesystem::path numbered = path;
  numbered.replace_filename(path.stem().string() + "-" + std::to_string(starts) +
                            path.extension().string());
  return numbered;
}

}  // namespace

std::unique_ptr<sched::CompiledApplication> Executor::compile() {
  const Options& options = shared_->options;
  Registry& registry = *registry_;
  const sched::CompileOptions compile_options{.cpus = options.cpus,
                                              .external_topics = registry.external_topics};
  auto strategy = registry.strategy
                      ? sched::CompiledStrategy{registry.tasks, *registry.strategy, options.policy,
                                                compile_options}
                      : sched::CompiledStrategy{registry.tasks, options.policy, compile_options};
  std::vector<std::vector<TaskIndex>> crews(options.cpus.size());
  for (const auto& [name, index] : registry.by_name) {
    const auto cpu = std::ranges::find(options.cpus, strategy.tasks()[index].cpu);
    auto crew = static_cast<std::size_t>(cpu - options.cpus.begin());
    if (shared_->tasks[index]->own_crew) {
      crew = options.cpus.size() + index;
      crews.resize(std::max(crews.size(), crew + 1));
    }
    crews[crew].push_back(index);
  }
  auto compiled = sched::compile_application(
      std::move(strategy), ++registry.version, crews,
      [&registry](const std::string& topic) { return registry.topic(topic); });
  for (std::size_t index = 0; index < registry.tasks.size(); ++index) {
    compiled->tasks.push_back(shared_->tasks[index].get());
  }
  for (const auto& target : compiled->targets) {
    target->tasks = compiled->tasks;
  }
  return compiled;
}

void Executor::watch(TaskState& state, const sched::Task& task) {
  state.watched = shared_->monitor ? shared_->monitor->find(state.name) : nullptr;
  if (state.watched == nullptr) {
    return;
  }
  for (const Topic* const topic : state.writes) {
    state.watched->writes.add(topic->id);
  }
  for (Watched::OfRead& read : state.watched->reads) {
    if (std::ranges::none_of(task.reads,
                             [&](const sched::Read& one) { return one.topic == read.topic; })) {
      throw sched::ScheduleError(
          "the limit of topic '" + read.topic + "' in callback '" + task.name + "'",
          "the callback does not read it", "name a topic that it reads");
    }
    read.of = registry_->topic(read.topic);
  }
}

// What the task takes from the compiled application; the threads do not know it yet.
void Executor::prepare_task(TaskIndex index, const sched::CompiledApplication& compiled) {
  TaskState& state = *shared_->tasks[index];
  const sched::Task& task = compiled.strategy.tasks()[index];
  const auto& cpus = shared_->options.cpus;
  state.input_topics.clear();
  for (const BoundInput& input : state.binding.inputs) {
    state.input_topics.push_back(registry_->topic(input.topic));
  }
  state.writes.clear();
  for (const std::string& topic : task.writes) {
    state.writes.push_back(registry_->topic(topic));
  }
  state.trigger = task.trigger.empty() ? nullptr : registry_->topic(task.trigger);
  watch(state, task);
  state.group = task.group.empty() ? 0 : registry_->group(task.group);
  registry_->tasks[index].cpu = task.cpu;  // where it is, it stays
  const auto core = static_cast<std::size_t>(std::ranges::find(cpus, task.cpu) - cpus.begin());
  const std::size_t number = state.own_crew ? cpus.size() + index : core;
  if (shared_->crews[number].load() == nullptr) {
    registry_->crews.push_back(std::make_unique<Crew>(
        *shared_, number, task.cpu, state.own_crew || is_fixed(compiled),
        compiled.strategy.scenarios().front().policy(), state.own_crew ? &state : nullptr));
    shared_->crews[number].store(registry_->crews.back().get());
    shared_->crews_used.store(std::max(shared_->crews_used.load(), number + 1));
  }
  shared_->crews[number].load()->bind_to(task.cpu);
  if (state.trace_id == trace::no_task) {
    state.trace_id = static_cast<std::uint16_t>(registry_->trace_ids++ % trace::no_task);
  }
  name_in_trace(index, compiled);
  state.crew.store(shared_->crews[number].load());
}

void Executor::make_room_for_notes() {
  std::size_t notes = notes_besides_arrivals;
  for (const auto& [name, index] : registry_->by_name) {
    // And each thread keeps one: there are as many as tasks, and one more a crew, at most.
    notes += shared_->tasks[index]->queue.load() + 2;
  }
  shared_->notes.grow_to(notes);
}

void Executor::prepare_crews(const sched::CompiledApplication& compiled) {
  const std::size_t crews = compiled.targets.front()->rosters.size();
  for (std::size_t i = 0; i < crews; ++i) {
    Crew* const crew = shared_->crews[i].load();
    if (crew != nullptr && !compiled.targets.front()->rosters[i].tasks.empty()) {
      crew->prepare(compiled);
    }
  }
}

void Executor::bring_up(const sched::CompiledApplication& compiled) {
  ++registry_->starts;
  open_trace(compiled);
  if (shared_->options.real_time && shared_->options.lock_memory) {
    shared_->add(os::lock_memory());
  }
  for (const auto& [name, index] : registry_->by_name) {
    shared_->tasks[index]->crew.store(nullptr);
    prepare_task(index, compiled);
  }
  registry_->child_cpus.emplace();
  prepare_crews(compiled);
  if (shared_->options.real_time) {  // after the threads: theirs weigh more
    const auto& refused_setting = registry_->no_deep_idle.emplace().refused_setting();
    if (refused_setting) {
      shared_->add({*refused_setting});
    }
  }
  {
    const std::lock_guard lock{registry_->mutex};
    shared_->compiled.store(&compiled);  // from here on another one may take its place
    registry_->first_scenario = shared_->scenario.load();
    registry_->has_set_off = false;
    registry_->phase = Registry::Phase::arming;
    registry_->phase_changed.notify_all();
  }
  report_not_granted();
  keeper_->start();
}

// The threads begin to release and run jobs.
void Executor::set_off() {
  if (shared_->options.real_time) {
    os::populate_memory();  // what the set-up allocated, and what is loaded by now
  }
  const std::lock_guard lock{registry_->mutex};
  registry_->start_time = std::max(os::now() + lead, shared_->options.not_before);
  shared_->end.store(os::add_sat(registry_->start_time, shared_->options.duration));
  registry_->has_set_off = true;
  const auto& targets = shared_->compiled.load()->targets;  // whoever switches, switches from there
  for (const auto& crew : registry_->crews) {
    crew->begin(*targets[registry_->first_scenario], registry_->start_time);
  }
  shared_->repost_early();
  // What was asked for meanwhile has woken nobody.
  for (const auto& crew : registry_->crews) {
    crew->wake_to_follow();
  }
}

// A source may ask for anything, and change it: what is there by then is looked at again.
void Executor::arm_all() {
  std::vector<std::pair<std::shared_ptr<JobSource>, ReleaseHandle>> sources;
  {
    const std::lock_guard lock{registry_->mutex};
    for (const auto& [name, index] : registry_->by_name) {
      TaskState& state = *shared_->tasks[index];
      if (state.binding.source && !state.armed) {
        sources.emplace_back(state.binding.source,
                             ReleaseHandle{*shared_, state, state.generation.load()});
      }
    }
  }
  for (const auto& [source, release] : sources) {
    TaskState& state = *release.task_;
    if (state.generation.load() != release.generation_) {
      continue;  // removed meanwhile
    }
    source->arm(release);
    std::unique_lock lock{registry_->mutex};
    if (state.generation.load() == release.generation_) {
      state.armed = true;
    } else {
      lock.unlock();
      source->disarm();
    }
  }
}

// Nothing of it can be seen afterwards, so that all can be brought up again.
void Executor::wind_down() noexcept {
  request_stop();
  std::vector<std::shared_ptr<JobSource>> sources;
  {
    const std::lock_guard lock{registry_->mutex};
    for (const auto& [name, index] : registry_->by_name) {
      if (std::exchange(shared_->tasks[index]->armed, false)) {
        sources.push_back(shared_->tasks[index]->binding.source);
      }
    }
  }
  for (const auto& source : sources) {
    source->disarm();
  }
  keeper_->stop();  // first: it ends crews, too
  for (const auto& crew : registry_->crews) {
    crew->wake_to_stop();
    crew->join();
  }
  shared_->compiled.store(nullptr);
  keeper_->retire_all();
  {
    const std::lock_guard lock{registry_->mutex};
    for (std::size_t index = 0; index < registry_->tasks.size(); ++index) {
      shared_->tasks[index]->rewind();
    }
  }
  registry_->no_deep_idle.reset();
  registry_->child_cpus.reset();
  if (shared_->tracer) {
    const std::string error = shared_->tracer->stop();
    if (!error.empty()) {
      shared_->add({{.what = "a complete trace", .why = error, .fix = "make room for the file"}});
    }
  }
  shared_->stopping.store(false);
}

void Executor::open_trace(const sched::CompiledApplication& compiled) {
  const Options& options = shared_->options;
  if (options.trace.empty()) {
    return;
  }
  shared_->tracer = std::make_unique<trace::Tracer>(
      trace_path(options.trace, registry_->starts),
      trace::TracerOptions{.ring_capacity = options.trace_capacity});
  auto& writer = shared_->tracer->writer();
  std::string cpus;
  for (const int cpu : options.cpus) {
    cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  }
  writer.attribute("cpus", cpus);
  writer.attribute("real_time", options.real_time ? "true" : "false");
  const auto scenarios = compiled.strategy.scenarios();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    writer.name(trace::NameKind::scenario, static_cast<std::uint16_t>(i), scenarios[i].name());
    writer.attribute("policy." + scenarios[i].name(), scenarios[i].policy().name());
  }
  writer.attribute("scenario", scenarios[shared_->scenario].name());
  if (options.trace_cpu_time && os::run_delay()) {  // else that none is there means nothing
    writer.attribute("waits_from_ns", std::to_string(trace::least_wait.count()));
  }
  for (const auto& [key, value] : options.trace_attributes) {
    writer.attribute(key, value);
  }
}

void Executor::name_in_trace(TaskIndex index, const sched::CompiledApplication& compiled) {
  if (!shared_->tracer) {
    return;
  }
  const TaskState& state = *shared_->tasks[index];
  auto& writer = shared_->tracer->writer();
  writer.name(trace::NameKind::task, state.trace_id, state.name);
  for (const Topic* const topic : registry_->topics()) {
    writer.name(trace::NameKind::topic, topic->id, topic->name);
  }
  trace::declare_task(writer, compiled.strategy, index, shared_->scenario);
}

void Executor::report_not_granted() {
  const os::SettingsNotGranted not_granted = shared_->take_unreported();
  if (shared_->tracer) {
    for (const os::NotGranted& refused_setting : not_granted) {
      shared_->tracer->writer().attribute("not_granted",
                                          refused_setting.what + ": " + refused_setting.why);
    }
  }
  announce_not_granted(shared_->options, not_granted);
}

void announce_not_granted(const Options& options, const os::SettingsNotGranted& not_granted) {
  if (not_granted.empty()) {
    return;
  }
  if (options.on_not_granted) {
    options.on_not_granted(not_granted);
    return;
  }
  const os::NotGranted& first = not_granted.front();
  std::fprintf(stderr,
               "takt: %zu real-time setting(s) not granted; the order of tasks and their exclusive "
               "groups hold, their timing does not. First: %s: %s. To get it: %s.\n",
               not_granted.size(), first.what.c_str(), first.why.c_str(), first.fix.c_str());
}

}  // namespace takt::executor
