// SPDX-License-Identifier: Apache-2.0
//
// Single operations: a call of switch_to() with 50 tasks, and recording one trace event.
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "bench.hpp"
#include "takt/os/thread.hpp"
#include "takt/trace/tracer.hpp"

namespace takt::bench {
namespace {

using Samples = std::vector<std::int64_t>;

Json row(const std::string& what, Samples samples) {
  return {{"what", what},
          {"p50_ns", quantile(samples, 0.5)},
          {"p99_ns", quantile(samples, 0.99)},
          {"max_ns", quantile(samples, 1)},
          {"samples", samples.size()}};
}

sched::SchedulingStrategy two_scenarios(int tasks) {
  sched::SchedulingScenario a{"a"};
  sched::SchedulingScenario b{"b"};
  for (int i = 0; i < tasks; ++i) {
    b.add_task({.task = "task" + std::to_string(i),
                .priority = 30 + (i * 7) % 10,
                .period = (15 + i) * 1ms});
  }
  sched::SchedulingStrategy strategy;
  strategy.add_scenario(std::move(a)).add_scenario(std::move(b));
  return strategy;
}

std::int64_t timed_switch(executor::Executor& executor, bool to_b) {
  const auto before = os::now();
  executor.switch_to(to_b ? "b" : "a");
  return (os::now() - before).count();
}

void measure_switch(const Settings& settings, const char* policy, Samples& from_callback,
                    Samples& from_thread) {
  constexpr int tasks = 50;
  executor::Executor executor{{.policy = sched::parse_policy(policy),
                               .cpus = {settings.cpu},
                               .on_not_granted = note_not_granted}};
  for (int i = 0; i < tasks; ++i) {
    executor.add(timer("task" + std::to_string(i), (10 + i) * 1ms, 30 + i % 10, i * 333us),
                 {[](const auto&) {}});
  }
  from_callback.reserve(from_callback.size() + 100'000);
  executor.add(timer("switcher", 1ms, 20), {[&](const sched::Job& job) {
                 if (from_callback.size() < from_callback.capacity()) {
                   from_callback.push_back(timed_switch(executor, job.index % 2 == 0));
                 }
               }});
  executor.set_scheduling_strategy(two_scenarios(tasks));
  executor.start();
  os::sleep_until(executor.start_time() + settings.duration / 2);
  // A thread elsewhere at a real-time priority, so that its own preemption is not in the figure.
  os::Thread outside{{.policy = os::SchedulingPolicy::fifo, .priority = 90}, [&] {
                       const auto end = executor.start_time() + settings.duration;
                       bool to_b = false;
                       for (auto next = os::now(); next < end; next += 1ms) {
                         os::sleep_until(next);
                         from_thread.push_back(timed_switch(executor, to_b = !to_b));
                       }
                     }};
  outside.join();
  note_not_granted(outside.not_granted());
  executor.stop();
}

}  // namespace

void switch_latency(const Settings& settings) {
  Json rows = Json::array();
  for (const char* policy : {"fp", "edf"}) {
    Samples from_callback;
    Samples from_thread;
    for (int round = 0; round < settings.rounds; ++round) {
      measure_switch(settings, policy, from_callback, from_thread);
    }
    rows.push_back(row(std::string{policy} + ", from a callback", from_callback));
    rows.push_back(row(std::string{policy} + ", from another thread", from_thread));
  }
  print_document("switch", settings, rows);
}

void trace_cost(const Settings& settings) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("takt.bench." + std::to_string(getpid()) + ".takttrace");
  constexpr std::int64_t batch = 1000;
  Samples on;
  Samples off;
  Samples single;
  {
    trace::Tracer tracer{path};
    trace::Recorder recorder = tracer.add_thread();
    trace::Recorder none;
    const auto measure = [&](trace::Recorder& with) {
      const auto before = os::now();
      for (std::uint64_t i = 0; i < batch; ++i) {
        with.record(trace::EventType::start, before, 1, i, 40);
        asm volatile("" ::: "memory");  // the branch must be taken each time
      }
      return (os::now() - before).count() / batch;
    };
    for (int i = 0; i < 100 * settings.rounds; ++i) {
      on.push_back(measure(recorder));
      off.push_back(measure(none));
      for (std::uint64_t k = 0; k < batch; ++k) {  // each by itself, the clock included
        const auto before = os::now();
        recorder.record(trace::EventType::start, before, 1, k, 40);
        single.push_back((os::now() - before).count());
      }
      os::sleep_until(os::now() + 2ms);  // for the writer
    }
    const std::string error = tracer.stop();
    if (!error.empty()) {
      throw std::runtime_error{error};
    }
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  print_document(
      "trace", settings,
      Json::array({row("event, mean of 1000", on), row("event while off, mean of 1000", off),
                   row("event and one reading of the clock", single)}));
}

}  // namespace takt::bench
