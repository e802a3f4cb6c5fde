// SPDX-License-Identifier: Apache-2.0
#include "beside.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <takt/application/threads.hpp>
#include <takt/trace/current.hpp>
#include <utility>

#include "own_trace.hpp"
#include "work.hpp"

namespace takt::runner {
namespace {

using trace::EventType;

// The processes that stand for the drivers of one.
std::vector<std::size_t> drivers_of(const application::Application& robot, std::size_t process) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    if (robot.processes[i].serves == robot.processes[process].name) {
      numbers.push_back(i);
    }
  }
  return numbers;
}

std::vector<std::string> nodes_of_drivers(const application::Application& robot,
                                          std::size_t process) {
  std::vector<std::string> nodes;
  for (const std::size_t driver : drivers_of(robot, process)) {
    std::ranges::move(nodes_of(robot, driver), std::back_inserter(nodes));
  }
  return nodes;
}

os::ThreadSettings settings_of(const application::Process& driver) {
  return {.policy = os::SchedulingPolicy::fifo,
          .priority = driver.priority,
          .cpus = {driver.cpu},
          .name = "takt.driver"};
}

// CPU time of the threads that are neither the executor's nor the one that started it, so far.
nanoseconds cpu_time_of_middleware() {
  std::int64_t sum = 0;
  for (const os::ThreadStatus& thread : os::process_threads()) {
    if (thread.tid == getpid() || thread.name.starts_with("takt.")) {
      continue;
    }
    std::ifstream file{"/proc/self/task/" + std::to_string(thread.tid) + "/schedstat"};
    std::int64_t used = 0;
    if (file >> used) {
      sum += used;
    }
  }
  return nanoseconds{sum};
}

}  // namespace

application::Application executed_form(const application::Application& robot) {
  application::Application result = application::with_drivers(robot);
  for (application::Callback& callback : result.callbacks) {
    if (callback.in_thread) {
      std::ranges::replace(callback.node, '.', '_');
    }
  }
  return result;
}

bool ThreadsBeside::has_any(const application::Application& robot, std::size_t process) {
  return !robot.processes[process].threads.empty() || !drivers_of(robot, process).empty();
}

ThreadsBeside::ThreadsBeside(const Execution& execution, Common& common, const Context& context,
                             std::size_t process, const std::filesystem::path& part,
                             Delivery delivery)
    : execution_{execution},
      process_{execution.application.processes[process]},
      members_{execution, common, context, nodes_of_drivers(execution.application, process),
               delivery} {
  if (!has_any(execution.application, process)) {
    return;
  }
  tracer_ =
      std::make_unique<trace::Tracer>(part, trace::TracerOptions{.ring_capacity = trace_capacity});
  std::vector<std::pair<std::string, std::string>> attributes = execution.attributes;
  std::uint16_t number = 0;
  for (const Member& member : members_.all()) {
    described_.push_back(&execution.application.processes[member.description->process]);
    tracer_->writer().name(trace::NameKind::task, number++, member.description->task.name);
    add_not_granted(attributes, settings_of(*described_.back()));
  }
  for (const auto& [key, value] : attributes) {
    tracer_->writer().attribute(key, value);
  }
  std::map<std::string, std::uint16_t> topics;
  members_.number_topics([&](const std::string& topic) {
    const auto [entry, is_new] =
        topics.try_emplace(topic, static_cast<std::uint16_t>(topics.size()));
    if (is_new) {
      tracer_->writer().name(trace::NameKind::topic, entry->second, topic);
    }
    return entry->second;
  });
}

void ThreadsBeside::wait_for_readers(const os::StopFlag& stop) const {
  members_.wait_for_readers(stop);
}

void ThreadsBeside::start(os::TimePoint start, const os::StopFlag& stop) {
  received_for_ = cpu_time_of_middleware();
  std::uint32_t task = 0;
  for (Member& member : members_.all()) {
    threads_.emplace_back(settings_of(*described_[task]),
                          [this, &member, task, start, &stop, recorder = tracer_->add_thread()] {
                            drive(member, task, start, stop, recorder);
                          });
    ++task;
  }
}

void ThreadsBeside::end() {
  threads_.clear();
  if (tracer_ != nullptr) {
    if (!process_.threads.empty()) {
      const nanoseconds used = cpu_time_of_middleware() - received_for_;
      tracer_->writer().attribute("receivers", process_.name + " " + std::to_string(used.count()));
    }
    if (const std::string error = tracer_->stop(); !error.empty()) {
      throw std::runtime_error{error};
    }
  }
}

// A release that comes while the job before runs is skipped (sched::Overrun::skip).
void ThreadsBeside::drive(Member& member, std::uint32_t task, os::TimePoint start,
                          const os::StopFlag& stop, trace::Recorder recorder) const noexcept {
  const sched::TaskParameters& parameters = member.description->task.parameters;
  const os::TimePoint end = end_of(execution_, start);
  sched::Job job{.priority = described_[task]->priority,
                 .release = start,
                 .period = parameters.period,
                 .expected_execution = parameters.expected_execution};
  while (job.release < end && !stop.wait_until(job.release)) {
    job.deadline = job.release + sched::relative_deadline(parameters);
    const os::TimePoint started = os::now();
    recorder.record(EventType::release, job.release, task, job.index,
                    job.deadline.time_since_epoch().count());
    recorder.record(EventType::start, started, task, job.index, job.priority);
    const nanoseconds before = thread_cpu_time();
    {
      const trace::CurrentJob current{recorder, task, job.index};
      member.on_timer(job);
    }
    const nanoseconds used = thread_cpu_time() - before;
    const os::TimePoint ended = os::now();
    recorder.record(EventType::end, ended, task, job.index, used.count());
    if (ended > job.deadline) {
      recorder.record(EventType::deadline_miss, ended, task, job.index,
                      job.deadline.time_since_epoch().count());
    }
    job.release += job.period;
    ++job.index;
    if (ended > job.release) {
      const std::int64_t skipped = (ended - job.release) / job.period + 1;
      recorder.record(EventType::skip, job.release, task, job.index, skipped);
      job.release += skipped * job.period;
      job.index += static_cast<std::uint64_t>(skipped);
    }
  }
}

}  // namespace takt::runner
