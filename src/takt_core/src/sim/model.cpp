// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <algorithm>
#include <utility>

#include "../application/chain_calls.hpp"
#include "../application/devices.hpp"
#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "takt/application/compile.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"

namespace takt::sim {
namespace {

// Rounded up, as in Application::worst_overhead().
nanoseconds message_cost(nanoseconds each, nanoseconds per_kib, std::size_t bytes) {
  constexpr UInt128 kib = 1024;
  constexpr auto most = static_cast<UInt128>(nanoseconds::max().count());
  const UInt128 variable = (static_cast<UInt128>(per_kib.count()) * bytes + kib - 1) / kib;
  return os::add_sat(each, nanoseconds{static_cast<std::int64_t>(std::min(variable, most))});
}

// Streams of random numbers: two a task, and for waiting and beginning one more each, far behind
// them.
constexpr std::uint64_t streams = 2;
constexpr std::uint64_t waiting_stream = std::uint64_t{1} << 32U;
constexpr std::uint64_t beginning_stream = std::uint64_t{1} << 34U;
constexpr std::uint64_t publishing_stream = std::uint64_t{1} << 35U;
constexpr std::uint64_t holding_stream = std::uint64_t{1} << 36U;
constexpr std::uint64_t placing_stream = std::uint64_t{1} << 39U;

nanoseconds noticed_late(const sched::CoreTask& task, std::uint64_t index) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
  return static_cast<const TaskState&>(task).jitter(index);
}

// Groups by number, from 1; 0 is none.
std::uint32_t group_number(std::vector<std::string>& groups, const std::string& name) {
  if (name.empty()) {
    return 0;
  }
  auto found = std::ranges::find(groups, name);
  if (found == groups.end()) {
    groups.push_back(name);
    found = groups.end() - 1;
  }
  return static_cast<std::uint32_t>(found - groups.begin() + 1);
}

}  // namespace

void ChainState::end(TimePoint time) noexcept {
  const TimePoint origin = positions.back().origin;
  if (origin == Position::no_data) {
    return;
  }
  age.record(time - origin);
  if (origin <= last) {
    return;
  }
  latency.record(time - origin);
  violations += chain->max_latency.count() > 0 && time - origin > chain->max_latency ? 1U : 0U;
  if (last != Position::no_data) {
    reaction.record(time - last);
  }
  last = origin;
}

void TopicState::publish(const TaskState* writer, TimePoint sent, TimePoint sampled) noexcept {
  const std::size_t slot = published % messages.size();
  messages[slot] = {.sent = sent, .sampled = sampled};
  for (Hop& hop : hops) {
    const TaskState& from = *hop.from->task;
    const bool joined = writer != nullptr && from.join != nullptr && from.join == writer->join;
    hop.origins[slot] = Position::no_data;
    if (joined) {
      hop.origins[slot] = hop.from->stored;
    } else if (&from == writer) {
      hop.origins[slot] = hop.from->origin;
    }
  }
  ++published;
  shared.sampled.store(sampled.time_since_epoch().count(), std::memory_order_relaxed);
}

void TopicState::hand_over(const TaskState& reader, std::uint64_t first,
                           std::uint64_t end) noexcept {
  for (Hop& hop : hops) {
    if (hop.to->task != &reader) {
      continue;
    }
    for (std::uint64_t number = end; number > first; --number) {
      const TimePoint origin = hop.origins[(number - 1) % messages.size()];
      if (origin != Position::no_data) {
        hop.to->origin = origin;
        break;
      }
    }
  }
}

std::uint64_t Input::drop() noexcept {
  const std::uint64_t oldest = topic->oldest();
  if (next >= oldest) {
    return 0;
  }
  const std::uint64_t dropped = oldest - next;
  next = oldest;
  return dropped;
}

TaskState::TaskState(TaskIndex task_index, const sched::Task& task,
                     const application::Callback& described, const Options& options)
    : TaskState(task_index, task, described, options, own_metrics) {}

TaskState::TaskState(TaskIndex task_index, const sched::Task& task,
                     const application::Callback& described, const Options& options,
                     CallbackMetrics& counted)
    : drawn(options.execution == ExecutionTimes::drawn && !described.execution.quantiles.empty()),
      draws_jitter(options.execution == ExecutionTimes::drawn),
      callback(&described),
      worst(described.execution.worst),
      declared(described.task.parameters.expected_execution),
      times(options.seed, streams * task_index),
      noticing(options.seed, streams * task_index + 1),
      waiting(options.seed, waiting_stream + task_index),
      beginning(options.seed, beginning_stream + task_index),
      publishing(options.seed, publishing_stream + task_index),
      placing(options.seed, placing_stream + task_index),
      holding(options.seed, holding_stream + task_index),
      plan(described.critical_sections, static_cast<std::size_t>(most_waits())),
      own_metrics(options.percentiles, !task.reads.empty() || !task.trigger.empty()),
      metrics(counted) {
  index = task_index;
  kind = task.kind;
  waits_after.reserve(static_cast<std::size_t>(most_waits()));
  lateness = described.jitter.count() > 0 ? noticed_late : nullptr;
}

TaskState::TaskState(TaskState& reentrant, const sched::Task& task, const Options& options)
    : TaskState(reentrant.index, task, *reentrant.callback, options, reentrant.metrics) {
  first_lane = &reentrant;
  phase = Phase::idle;
}

nanoseconds TaskState::segment(std::size_t number, const Job& of) const noexcept {
  const application::Segment& declared_as = callback->segments[number];
  const nanoseconds longest =
      declared_as.device.empty() ? declared_as.longest : declared_as.occupies;
  if (!draws_jitter) {
    return longest;
  }
  const std::uint64_t draw =
      number % 2 == 0
          ? times.at(of.index)
          : waiting.at(of.index * static_cast<std::uint64_t>(most_waits()) + number / 2);
  return quantile(std::array{declared_as.shortest, longest}, draw);
}

nanoseconds TaskState::segments_from(std::size_t number, const Job& of) const noexcept {
  nanoseconds time{0};
  for (; number < callback->segments.size(); number += 2) {
    time += segment(number, of);
  }
  return time;
}

std::unique_ptr<sched::CompiledApplication> Model::compile_cores(sched::CompiledStrategy strategy) {
  std::vector<std::vector<TaskIndex>> cores;
  for (const sched::Core& core : strategy.cores()) {
    cores.push_back(core.tasks);
  }
  return sched::compile_application(std::move(strategy), 1, cores, [this](const std::string& name) {
    return &topic(name).shared;
  });
}

Model::Model(const application::Application& application, const Options& options)
    : application_(&application),
      options_(&options),
      compiled_(compile_cores(application::compile(application))) {
  for (std::size_t i = 0; i < application.processes.size(); ++i) {
    processes_.push_back(compile_cores(application::compile_process(application, i)));
  }
  const auto tasks = compiled_->strategy.tasks();
  std::vector<std::string> groups;
  for (TaskIndex i = 0; i < tasks.size(); ++i) {
    TaskState& state = tasks_.emplace_back(i, tasks[i], application.callbacks[i], options);
    state.group = group_number(groups, tasks[i].group);
    by_index_.push_back(&state);
    connect(state, tasks[i]);
    if (application.callbacks[i].reentrant) {
      add_runners(state, tasks[i]);
    }
  }
  connect_services();
  for (const std::vector<std::size_t>& join : application.joins()) {
    sched::Join& state = joins_.emplace_back(join.size());
    for (std::size_t input = 0; input < join.size(); ++input) {
      tasks_[join[input]].join = &state;
      tasks_[join[input]].input = input;
    }
  }
  for (const application::Topic& declared : application.topics) {
    if (declared.external) {
      topic(declared.name).external_period = declared.external_period;
      topic(declared.name).external_jitter = declared.external_jitter;
    }
  }
  for (const application::Chain& chain : application.chains) {
    add_chain(chain, options.percentiles);
  }
  for (const application::Lock& lock : application.locks) {
    across_.push_back({.spins = lock.protocol == application::LockProtocol::spin});
    across_.back().waiting.reserve(application.callbacks.size());
  }
}

TopicState& Model::topic(const std::string& name) {
  const auto known =
      std::ranges::find_if(topics_, [&](const auto& topic) { return topic.shared.name == name; });
  if (known != topics_.end()) {
    return *known;
  }
  TopicState& added = topics_.emplace_back();
  added.shared.name = name;
  added.shared.id = static_cast<std::uint16_t>(topics_.size() - 1);
  const application::Topic* const declared = application_->find_topic(name);
  const application::Topic defaults;
  const application::Topic& described = declared == nullptr ? defaults : *declared;
  added.messages.resize(described.depth);
  if (described.local) {
    return added;
  }
  const application::Overheads& costs = application_->overheads;
  added.publish_cost = message_cost(costs.publish, costs.publish_per_kib, described.bytes);
  added.deliver_cost = message_cost(costs.deliver, costs.deliver_per_kib, described.bytes);
  return added;
}

void Model::connect(TaskState& state, const sched::Task& task) {
  for (const sched::Read& read : task.reads) {
    state.inputs.push_back({.topic = &topic(read.topic)});
  }
  connect_writes(state, task);
  if (!state.is_timer()) {
    TopicState& trigger = topic(task.trigger);
    state.trigger = Input{.topic = &trigger};
    if (state.callback->lane == 0) {
      trigger.triggered.emplace_back(state.callback->lanes);
    }
    trigger.triggered.back().lanes.push_back(&state);
    state.first_lane = trigger.triggered.back().lanes.front();
    // As takt_rcl: each of both sources of messages keeps `depth` of them.
    state.messages = sched::MessageReleases{2 * trigger.messages.size()};
  }
  state.plain = state.inputs.empty() && state.writes.empty() && state.is_timer();
}

void Model::connect_writes(TaskState& state, const sched::Task& task) {
  for (const std::string& written : task.writes) {
    state.writes.push_back(&topic(written));
    state.counts.push_back(state.callback->messages_on(written));
  }
}

// One for each thread of its executor.
void Model::add_runners(TaskState& state, const sched::Task& task) {
  for (std::size_t i = application::threads_of(*application_, *state.callback); i > 0; --i) {
    TaskState& runner = runners_.emplace_back(state, task, *options_);
    connect_writes(runner, task);
    runner.trigger = state.trigger;
    runner.plain = state.plain;
    runner.runner = std::exchange(state.runner, &runner);
  }
}

void Model::connect_services() {
  const std::vector<std::string> devices = application::devices_of(*application_);
  devices_.resize(devices.size());
  for (TaskState& client : tasks_) {
    client.cost_of_calls = application_->cost_of_calls(*client.callback);
    const std::vector<application::Segment>& segments = client.callback->segments;
    const bool occupies = std::ranges::any_of(
        segments, [](const application::Segment& one) { return !one.device.empty(); });
    if (!client.callback->calls() && !occupies) {
      continue;
    }
    client.plain = client.plain && !client.callback->calls();
    for (std::size_t at = 1; at < segments.size(); at += 2) {
      Called& called = client.calls.emplace_back();
      if (const auto device = std::ranges::find(devices, segments[at].device);
          device != devices.end()) {
        called.free_at = &devices_[static_cast<std::size_t>(device - devices.begin())];
      }
      if (!segments[at].call.empty()) {
        called.server = &tasks_[application_->server_of(segments[at].call)];
        called.way = way_between(*called.server, client);
        called.server->clients.reserve(tasks_.size());
      }
    }
  }
}

application::Handover Model::way_between(const TaskState& from, const TaskState& to) const {
  if (from.callback->process == to.callback->process) {
    return {};
  }
  const std::vector<application::Process>& processes = application_->processes;
  return *application::between(*application_, processes[from.callback->process],
                               processes[to.callback->process]);
}

void Model::add_chain(const application::Chain& chain, bool with_percentiles) {
  ChainState& state = chains_.emplace_back(chain, with_percentiles);
  for (const std::string& name : chain.callbacks) {
    TaskState& task = tasks_[*compiled_->strategy.find_task(name)];
    Position* const before = state.positions.empty() ? nullptr : &state.positions.back();
    Position& position = state.positions.emplace_back(Position{.task = &task, .before = before});
    task.positions.push_back(&position);
    task.plain = false;
    for (sched::CoreTask* runner = task.runner; runner != nullptr; runner = runner->runner) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
      auto& own = static_cast<TaskState&>(*runner);
      own.origins.push_back(Position::no_data);
      own.plain = false;
    }
    if (before == nullptr) {
      continue;
    }
    bool linked = false;
    const auto follow = [&](TopicState& topic) {
      topic.hops.push_back(
          {.from = before,
           .to = &position,
           .origins = std::vector<TimePoint>(topic.messages.size(), Position::no_data)});
      linked = true;
    };
    if (application::calls(*before->task->callback, *task.callback)) {
      follow(*task.trigger->topic);
      continue;
    }
    for (TopicState* topic : before->task->writes) {
      const bool reads =
          (task.trigger && task.trigger->topic == topic) ||
          std::ranges::any_of(task.inputs, [&](const Input& in) { return in.topic == topic; });
      if (reads) {
        follow(*topic);
      }
    }
    if (!linked) {
      throw sched::ScheduleError(
          "chain '" + chain.name + "'",
          "'" + name + "' reads nothing that '" + before->task->callback->task.name + "' writes",
          "name the topic among the writes of the one and the reads of the other");
    }
  }
  if (!state.positions.empty()) {
    state.positions.back().task->ends.push_back(&state);
  }
}

}  // namespace takt::sim
