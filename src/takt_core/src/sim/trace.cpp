// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <string>

#include "takt/trace/declared.hpp"

namespace takt::sim {

Trace::Trace(Model& model, const Options& options, nanoseconds duration) {
  if (options.trace.empty()) {
    return;
  }
  trace::TraceWriter& writer = writer_.emplace(options.trace, trace::Source::simulator);
  events_.reserve(2 * batch);
  for (const TaskState& task : model.tasks()) {
    writer.name(trace::NameKind::task, static_cast<std::uint16_t>(task.index),
                task.callback->task.name);
    const sched::CompiledStrategy& decides =
        model.processes().empty() ? model.compiled().strategy
                                  : model.processes()[task.callback->process]->strategy;
    trace::declare_task(writer, decides, task.index, decides.default_scenario());
  }
  for (const TopicState& topic : model.topics()) {
    writer.name(trace::NameKind::topic, topic.shared.id, topic.shared.name);
  }
  const auto& strategy = model.compiled().strategy;
  const auto scenarios = strategy.scenarios();
  std::string cpus;
  for (const int cpu : model.application().cpus) {
    cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  }
  writer.attribute("cpus", cpus);
  const bool robot = !model.application().processes.empty();  // each process has its own policy
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    writer.name(trace::NameKind::scenario, static_cast<std::uint16_t>(i), scenarios[i].name());
    writer.attribute("policy." + scenarios[i].name(),
                     robot ? "robot" : scenarios[i].policy().name());
  }
  writer.attribute("scenario", scenarios[strategy.default_scenario()].name());
  writer.attribute("execution", options.execution == ExecutionTimes::worst ? "worst" : "drawn");
  writer.attribute("seed", std::to_string(options.seed));
  writer.attribute("duration_ns", std::to_string(duration.count()));
  for (const auto& [key, value] : options.trace_attributes) {
    writer.attribute(key, value);
  }
}

void Trace::flush() {
  if (writer_ && !events_.empty()) {
    writer_->write(events_);
    events_.clear();
  }
}

void Trace::close() {
  flush();
  if (writer_) {
    writer_->close();
  }
}

}  // namespace takt::sim
