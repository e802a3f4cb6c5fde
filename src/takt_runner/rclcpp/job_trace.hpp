// SPDX-License-Identifier: Apache-2.0
//
// What callbacks tell of themselves, because rclcpp's executors trace nothing of this kind: a trace
// like that of the other approaches. A release is when rclcpp wanted to call a timer, and when a
// message was made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <rclcpp/timer.hpp>
#include <string>
#include <takt/trace/current.hpp>
#include <takt/trace/tracer.hpp>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace takt::runner {

// One callback; its jobs follow each other.
struct TracedTask {
  std::uint16_t number{trace::no_task};
  int priority{0};  // as described, whatever the executor makes of it
  nanoseconds period{0};
  nanoseconds deadline{0};  // 0: none
  std::uint64_t jobs{0};    // releases so far
  os::TimePoint last{};     // release of a timer
};

class JobTrace {
 public:
  // One in a process. Throws std::system_error.
  JobTrace(const std::filesystem::path& file, const std::string& policy,
           const std::vector<std::pair<std::string, std::string>>& attributes);

  // While nothing is executed.
  [[nodiscard]] std::uint16_t add_task(const std::string& name);
  [[nodiscard]] std::uint16_t number_of_topic(const std::string& topic);
  trace::Recorder add_thread() { return tracer_.add_thread(); }

  // Around a timer's callback; `job` gets its index and release.
  template <class Job>
  void timer(TracedTask& task, const ::rclcpp::TimerInfo& info, const Job& job) {
    const os::TimePoint started = os::now();
    // Both are of rcl's clock; how far apart they are is what counts.
    const os::TimePoint release =
        started - nanoseconds{(info.actual_call_time - info.expected_call_time).nanoseconds()};
    note_skipped(task, release);
    const std::uint64_t index = task.jobs++;
    run(task, index, release, started, [&] { job(index, release); });
  }

  // Around the callback of a message that was made at `made`.
  template <class Job>
  void message(TracedTask& task, os::TimePoint made, const Job& job) {
    const std::uint64_t index = task.jobs++;
    run(task, index, made, os::now(), [&] { job(index); });
  }

  // In the callback of a subscription that only keeps what comes.
  void delivered(const TracedTask& task, std::uint64_t job, os::TimePoint sampled,
                 std::uint16_t topic) noexcept;

  // When nobody records any more. Throws std::runtime_error for what could not be written.
  void stop();

 private:
  // Of the calling thread.
  struct OfThread {
    trace::Recorder recorder;
    std::optional<std::int64_t> cpu_at_last_end;
  };
  OfThread& here();
  void note_skipped(TracedTask& task, os::TimePoint release);
  void begin(const TracedTask& task, std::uint64_t job, os::TimePoint release,
             os::TimePoint started);
  void end(const TracedTask& task, std::uint64_t job, os::TimePoint release,
           std::int64_t cpu_before);
  static std::int64_t cpu_now() noexcept;

  template <class Work>
  void run(const TracedTask& task, std::uint64_t job, os::TimePoint release, os::TimePoint started,
           const Work& work) {
    OfThread& thread = here();
    const trace::CurrentJob current{thread.recorder, task.number, job};
    const std::int64_t cpu_before = cpu_now();
    begin(task, job, release, started);
    if (thread.cpu_at_last_end) {
      thread.recorder.record(trace::EventType::dispatch, started, task.number, job,
                             cpu_before - *thread.cpu_at_last_end);
    }
    work();
    end(task, job, release, cpu_before);
  }

  trace::Tracer tracer_;
  std::uint16_t tasks_{0};
  std::map<std::string, std::uint16_t> topics_;
};

}  // namespace takt::runner
