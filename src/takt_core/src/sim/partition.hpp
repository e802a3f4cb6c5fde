// SPDX-License-Identifier: Apache-2.0
//
// One core in virtual time: what executor::Lanes and executor::Stack do with threads, done with a
// stack of started jobs. Where the two differ, so does this:
//
//   fixed priority (Lanes): a release becomes a job when a thread gets to it in its lane, so
//   a job that waits takes up what a change of scenario says; jobs of one priority run one after
//   the other. otherwise (Stack): a release becomes a job when it is noticed; waiting jobs keep
//   their parameters, and are reordered by the policy of the new scenario.
//
// While nothing could preempt the running job, releases are not noticed at all, as by the executor,
// whose standby sleeps then.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calendar.hpp"
#include "model.hpp"
#include "takt/sched/ready_queue.hpp"
#include "takt/sched/srp.hpp"
#include "trace.hpp"

namespace takt::sim {

class Partition {
 public:
  // `lanes`: all scenarios have fixed priorities and are preemptive. The others must outlive it.
  Partition(Model& model, const sched::Core& core, bool lanes, Trace& trace);

  // When something happens here next that time alone brings about.
  [[nodiscard]] TimePoint next() const noexcept { return next_; }
  // When the running job ends.
  [[nodiscard]] TimePoint end_of_running() const noexcept { return end_; }

  // Releases tasks from time 0 on.
  void begin(const executor::Target& target) noexcept;

  // The running job ends; what follows is left to decide(), at the same time.
  void end_job(TimePoint now) noexcept;
  // Takes up what has happened, and chooses who runs.
  void decide(TimePoint now) noexcept;

  // Another core, or somebody outside, has news for the task.
  void announce(TaskState& task, TimePoint now) noexcept;
  // Another scenario, from the next decision on.
  void switch_to(const executor::Target& target, TimePoint now) noexcept;

  // `sampled`: when the data was, by whomever it is published. Null: somebody outside.
  static void publish(TopicState& topic, const TaskState* writer, TimePoint sampled,
                      TimePoint now) noexcept;

  // Nothing happens after this. What has not ended yet is counted.
  void finish(TimePoint now) noexcept;

  [[nodiscard]] CoreResult result() const noexcept { return result_; }

 private:
  // A job that has started and not ended; the last one of the stack runs.
  struct Started {
    Job job;
    TaskState* task = nullptr;
    nanoseconds left{0};      // when it does not run
    nanoseconds computes{0};  // in all, without overheads of the executor
  };

  void follow(TimePoint now) noexcept;
  void reschedule(TaskState& task, TimePoint now) noexcept;
  void notice(TaskState& task, TimePoint now) noexcept;
  std::optional<Job> release(TaskState& task, TimePoint now) noexcept;
  void take(TaskState& task, const Job& job) noexcept;
  void count_release(TaskState& task, const Job& job) noexcept;
  void count_skipped(TaskState& task, const executor::Skipped& skipped) noexcept;

  [[nodiscard]] std::optional<Job> choose(TimePoint now) noexcept;
  [[nodiscard]] std::optional<Job> choose_idle(TimePoint now) noexcept;
  [[nodiscard]] bool group_is_held(const TaskState& task) const noexcept;
  bool start(Job job, TimePoint now) noexcept;
  nanoseconds read_and_compute(TaskState& task, const Job& job, TimePoint now) noexcept;
  nanoseconds read(TaskState& task, Input& input, const Job& job, TimePoint now) noexcept;
  nanoseconds read_trigger(TaskState& task, const Job& job, TimePoint now) noexcept;
  void use(TaskState& task, const TopicState& topic, std::uint64_t number, const Job& job,
           TimePoint now) noexcept;
  void check_age(TaskState& task, const Job& job, TimePoint now) noexcept;
  void write(TaskState& task, const Job& job, TimePoint now) noexcept;
  void pause(TimePoint now) noexcept;
  void resume(TimePoint now) noexcept;
  void look_ahead() noexcept;

  void record(trace::EventType type, TimePoint time, const TaskState& task, std::uint64_t job,
              std::int64_t value = 0, std::uint16_t topic = trace::no_topic,
              std::uint64_t detail = 0) noexcept {
    if (trace_.on()) [[unlikely]] {
      trace_.record(type, time, result_.cpu, task.index, job, value, topic, detail);
    }
  }

  Trace& trace_;
  const application::Overheads& overheads_;
  const bool lanes_;
  std::size_t depth_ = 0;             // the most jobs that the executor has threads for
  std::vector<TaskState*> tasks_;     // by local index
  std::vector<TaskState*> by_index_;  // of all cores
  Calendar calendar_;                 // by local index
  sched::ReadyQueue ready_;
  sched::SystemCeiling ceiling_;
  std::vector<Started> started_;
  std::vector<Job> next_jobs_;  // room for what Policy::decide() wants to know

  const executor::Target* target_ = nullptr;
  const executor::Target* pending_ = nullptr;  // a switch that no decision has taken up yet
  // Of target_.
  const sched::CompiledScenario* scenario_ = nullptr;
  bool preemptive_ = true;
  bool work_conserving_ = true;
  sched::Level highest_level_ = sched::no_ceiling;  // of the tasks that may be released here
  bool switched_ = false;

  bool running_ = false;               // the last started job has the core
  bool blind_ = false;                 // nothing can preempt it
  TimePoint end_ = TimePoint::max();   // of the running job
  TimePoint wake_ = TimePoint::max();  // the policy leaves the core idle until then
  TimePoint next_ = TimePoint::max();
  TimePoint busy_since_;
  nanoseconds debt_{0};  // overheads that whoever runs next has to pay
  CoreResult result_;
};

}  // namespace takt::sim
