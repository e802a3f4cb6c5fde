// SPDX-License-Identifier: Apache-2.0
//
// What callbacks tell of themselves, because rclcpp's executors trace nothing of this kind: a trace
// like that of the other approaches. A release is when rclcpp wanted to call a timer, and when a
// message was made. Takt's executor knows more: jobs are those that it has released, with the
// deadlines and priorities of their scenario.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <rclcpp/timer.hpp>
#include <string>
#include <takt/executor/current_job.hpp>
#include <takt/sched/strategy.hpp>
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
  bool keeps_only{false};   // a message, for another callback
  bool has_deadline{true};  // in some scenario; else Takt's executor has one of its own for it
  bool reentrant{false};    // its jobs may run at once
};

class JobTrace {
 public:
  // One in a process; without a policy, for a part of a robot's trace. Throws std::system_error.
  JobTrace(const std::filesystem::path& file, const std::string& policy,
           const std::vector<std::pair<std::string, std::string>>& attributes);

  // While nothing is executed.
  [[nodiscard]] std::uint16_t add_task(const std::string& name);
  [[nodiscard]] std::uint16_t number_of_topic(const std::string& topic);
  trace::Recorder add_thread() { return tracer_.add_thread(); }
  // Timers that are released from `end` on are no jobs of this execution: executors call those that
  // expire while they are being stopped. While nothing is executed.
  void ends_at(os::TimePoint end) noexcept { end_ = end; }

  // Around a timer's callback; `job` gets its index and release.
  template <class Job>
  void timer(TracedTask& task, const rclcpp::TimerInfo& info, const Job& job) {
    const os::TimePoint started = os::now();
    Released job_of_task = as_described(task);
    if (const sched::Job* const of_takt = executor::current_job()) {
      job_of_task = as_released(*of_takt);
    } else {
      // Both are of rcl's clock; how far apart they are is what counts.
      job_of_task.time =
          started - nanoseconds{(info.actual_call_time - info.expected_call_time).nanoseconds()};
    }
    if (job_of_task.time >= end_) {
      return;
    }
    const std::uint64_t index = number(task, [&] {
      if (const sched::Job* const of_takt = executor::current_job()) {
        note_skipped(task, of_takt->index, of_takt->release, of_takt->period);
      } else {
        note_passed_over(task, job_of_task.time);
      }
    });
    run(task, index, job_of_task, started, [&] { job(index, job_of_task.time); });
  }

  // Around the callback of a message that was published at `published_at`.
  template <class Job>
  void message(TracedTask& task, os::TimePoint published_at, const Job& job) {
    const sched::Job* const of_takt = task.keeps_only ? nullptr : executor::current_job();
    Released job_of_task = of_takt != nullptr ? as_released(*of_takt) : as_described(task);
    job_of_task.time = published_at;
    job_of_task.deadline = task.has_deadline ? job_of_task.deadline : nanoseconds{0};
    const std::uint64_t index = number(task, [] {});
    run(task, index, job_of_task, os::now(), [&] { job(index); });
  }

  // In the callback of a subscription that only keeps what comes.
  void delivered(const TracedTask& task, std::uint64_t job, os::TimePoint sampled,
                 std::uint16_t topic) noexcept;

  // While nothing is executed.
  void name_scenarios(const sched::SchedulingStrategy& strategy);
  // The calling thread's core follows another one from `time` on: its place in the strategy.
  void switched(std::size_t scenario, os::TimePoint time);

  // When nobody records any more. Throws std::runtime_error for what could not be written.
  void stop();

 private:
  // Of the calling thread.
  struct OfThread {
    trace::Recorder recorder;
    std::optional<std::int64_t> cpu_at_last_end;
  };
  // A job as its executor has released it.
  struct Released {
    os::TimePoint time;
    nanoseconds deadline{0};  // relative; 0: none
    int priority{0};
  };
  OfThread& here();
  static Released as_described(const TracedTask& task) noexcept;
  static Released as_released(const sched::Job& job) noexcept;
  void note_skipped(TracedTask& task, std::uint64_t index, os::TimePoint release,
                    nanoseconds period);
  void note_passed_over(TracedTask& task, os::TimePoint release);
  void begin(const TracedTask& task, std::uint64_t job, const Released& released,
             os::TimePoint started);
  void end(const TracedTask& task, std::uint64_t job, const Released& released,
           std::int64_t cpu_before);
  static std::int64_t cpu_now() noexcept;

  // Of its next job, after `noting`.
  template <class Noting>
  std::uint64_t number(TracedTask& task, const Noting& noting) {
    std::unique_lock lock{numbering_, std::defer_lock};
    if (task.reentrant) {
      lock.lock();
    }
    noting();
    return task.jobs++;
  }

  template <class Work>
  void run(const TracedTask& task, std::uint64_t job, const Released& released,
           os::TimePoint started, const Work& work) {
    OfThread& thread = here();
    const trace::CurrentJob current{thread.recorder, task.number, job};
    const std::int64_t cpu_before = cpu_now();
    begin(task, job, released, started);
    if (thread.cpu_at_last_end) {
      thread.recorder.record(trace::EventType::dispatch, started, task.number, job,
                             cpu_before - *thread.cpu_at_last_end);
    }
    work();
    end(task, job, released, cpu_before);
  }

  trace::Tracer tracer_;
  std::mutex numbering_;  // of jobs that run at once
  os::TimePoint end_{os::TimePoint::max()};
  std::uint16_t tasks_{0};
  std::map<std::string, std::uint16_t> topics_;
};

}  // namespace takt::runner
