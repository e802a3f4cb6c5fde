// SPDX-License-Identifier: Apache-2.0
//
// One core in virtual time: what an executor's crew does with threads. The state of a core
// (sched/core_state.hpp) decides which job runs when, as in the executor; this class accounts for
// the time that jobs compute and wait.
//
// Threads that take jobs from one wait set are as many cores with one state. While something else
// has the core of one of them, it takes nothing.
//
// While the core is withheld from its jobs nothing is decided either.
//
// As in the executor, releases that could not start before the running job ends are not noticed
// earlier, and cost nothing meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model.hpp"
#include "takt/sched/core_state.hpp"
#include "trace.hpp"
#include "withheld.hpp"

namespace takt::sim {

class Partition final : private sched::CoreListener {
 public:
  // `compiled`: what decides here; `number`: of the core in it. `declared`: what the core gives;
  // null: all of its time. `fixed`: all scenarios have preemptive fixed priorities. The other
  // arguments must outlive it.
  Partition(Model& model, const sched::CompiledApplication& compiled, std::size_t number,
            const application::Core* declared, bool fixed, Trace& trace);
  // One more thread, on this core, with the state of the first one, which must outlive it.
  // `policy`: that of the state.
  Partition(Partition& first, const sched::Policy& policy, int cpu,
            const application::Core* declared);
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;
  Partition(Partition&&) = delete;
  Partition& operator=(Partition&&) = delete;
  ~Partition() = default;

  // The core that events of the trace name.
  void set_cpu(int cpu) noexcept { result_.cpu = cpu; }

  // The next time at which something happens here without an external event.
  [[nodiscard]] TimePoint next() const noexcept { return held_ ? TimePoint::max() : next_; }
  // The same, also while a process of higher priority has the core.
  [[nodiscard]] TimePoint due() const noexcept { return next_; }
  // When the running job ends, or begins to wait.
  [[nodiscard]] TimePoint end_of_running() const noexcept { return end_; }
  // When it publishes, if that is before its end.
  [[nodiscard]] TimePoint message_of_running() const noexcept { return message_at_; }

  // Releases tasks from time 0 on.
  void begin(const sched::Target& target) noexcept;

  // The running job publishes; decide() at the same time must follow.
  void publish_running(TimePoint now) noexcept;
  // The running job ends or begins to wait; decide() at the same time must follow.
  void end_running(TimePoint now) noexcept;
  // Whether decide() may have something to do. Of several threads with one state each asks
  // whenever something happens.
  [[nodiscard]] bool may_decide(TimePoint now) const noexcept {
    return !held_ && (is_thread() || next_ <= now);
  }
  // Processes what has happened, and chooses the job to run.
  void decide(TimePoint now) noexcept;

  // Whether a job computes here, or waits for a process of higher priority to end.
  [[nodiscard]] bool busy() const noexcept { return on_core_ != nullptr; }
  // A process of higher priority has the core: nothing runs here, and nothing is decided.
  void hold(TimePoint now) noexcept;
  // It has left the core.
  void let(TimePoint now) noexcept;

  // A message has arrived for the task.
  void arrive(TaskState& task, TimePoint now) noexcept;
  // Follows another scenario from the next decision on.
  void switch_to(const sched::Target& target, TimePoint now) noexcept;

  // Publishes data that was sampled at `sampled`. `writer`: null for an external writer.
  static void publish(TopicState& topic, const TaskState* writer, TimePoint sampled,
                      TimePoint now) noexcept;

  // Ends the simulation and counts the jobs that have not ended.
  void finish(TimePoint now) noexcept;

  [[nodiscard]] CoreResult result() const noexcept { return result_; }

 private:
  void released(sched::CoreTask& task, const Job& job,
                const sched::Release* regular) noexcept override;
  void skipped(sched::CoreTask& task, const sched::Skipped& skipped) noexcept override;
  void dropped(sched::CoreTask& task, const Job& job) noexcept override;
  void boosted(sched::CoreTask& task, const Job& job, std::size_t above) noexcept override;
  void wanted(TaskIndex source) noexcept override;

  [[nodiscard]] TaskState& task(TaskIndex index) noexcept { return model_.tasks()[index]; }
  void declare(const application::Core* core);
  // Whether it is one of several threads with one state.
  [[nodiscard]] bool is_thread() const noexcept { return first_ != nullptr || !threads_.empty(); }
  [[nodiscard]] bool idle() const noexcept;
  void choose_for_thread(TimePoint now) noexcept;
  [[nodiscard]] std::span<Partition* const> threads() const noexcept {
    return first_ == nullptr ? threads_ : first_->threads_;
  }
  void look_ahead_all() noexcept;
  void count_able() noexcept;
  void count_unfinished(TimePoint now) noexcept;
  void follow(TimePoint now) noexcept;
  void choose(TimePoint now) noexcept;
  void finish_job(TaskState& task, TimePoint now) noexcept;
  [[nodiscard]] bool gives_way(TimePoint now) noexcept;
  void end_finished(TimePoint now) noexcept;
  void end_job(TaskState& task, TimePoint now) noexcept;
  static void stop_at_wait(TaskState& task) noexcept;
  void wait(TaskState& task, TimePoint now) noexcept;
  void request(TaskState& server, TaskState& client, TimePoint now) noexcept;
  static void answer(TaskState& server, TimePoint now) noexcept;
  void wake(TimePoint now) noexcept;
  void start(const Job& chosen, TimePoint now) noexcept;
  nanoseconds read_and_compute(TaskState& task, const Job& job, TimePoint now) noexcept;
  nanoseconds read(TaskState& task, Input& input, const Job& job, TimePoint now) noexcept;
  nanoseconds read_trigger(TaskState& task, const Job& job, TimePoint now) noexcept;
  void use(TaskState& task, const TopicState& topic, std::uint64_t number, const Job& job,
           TimePoint now) noexcept;
  void check_age(TaskState& task, const Job& job, TimePoint now) noexcept;
  void write(TaskState& task, const Job& job, TimePoint now) noexcept;
  void run(TaskState& task, TimePoint now) noexcept;
  void stop_running(TimePoint now) noexcept;
  void pause(TimePoint now) noexcept;
  void resume(TaskState& task, TimePoint now) noexcept;
  static void begin_steps(TaskState& task) noexcept;
  void pass_step(TaskState& task, TimePoint now) noexcept;
  bool take(TaskState& task, std::size_t lock, TimePoint now) noexcept;
  void take_across(LockAcross& lock, TaskState& task, TimePoint now) noexcept;
  void compute_to_next_step(TaskState& task, TimePoint now) noexcept;
  void leave(std::size_t number, TimePoint now) noexcept;
  void go_on(TaskState& task, bool spins, TimePoint now) noexcept;
  static void go_to_next_step(TaskState& task) noexcept;
  void look_ahead() noexcept;
  void lose_time(TimePoint now) noexcept;

  void record(trace::EventType type, TimePoint time, const TaskState& task, std::uint64_t job,
              std::int64_t value = 0, std::uint16_t topic = trace::no_topic,
              std::uint64_t detail = 0) noexcept {
    if (trace_.on()) [[unlikely]] {
      trace_.record(type, time, result_.cpu, task.index, job, value, topic, detail);
    }
  }

  Model& model_;
  Trace& trace_;
  const application::Overheads& overheads_;
  const std::size_t number_;
  std::unique_ptr<sched::CoreState> own_;  // none: another thread's
  sched::CoreState& state_;
  std::vector<Partition*> threads_;         // of the first one: all; else none
  Partition* const first_;                  // null: this is the only thread, or the first one
  const sched::Target* pending_ = nullptr;  // a switch that no decision has followed yet
  bool limits_ = false;                     // some task has an age limit in this scenario
  bool locks_ = false;                      // jobs take locks, and may be preempted meanwhile
  std::vector<std::vector<sched::Level>> ceilings_;  // of locks, by scenario; empty: no locks

  TaskState* on_core_ = nullptr;             // the task whose job computes
  TimePoint end_ = TimePoint::max();         // of its computing
  TimePoint message_at_ = TimePoint::max();  // when it publishes before its end
  TimePoint wake_ = TimePoint::max();        // the policy leaves the core idle until then
  std::vector<TaskState*> waiting_;          // tasks whose jobs wait
  TimePoint next_ = TimePoint::max();
  Withheld withheld_;  // times without supply, and interrupts
  TimePoint back_;     // until then the core is away
  bool held_ = false;  // a process of higher priority has it
  nanoseconds latency_{0};
  TimePoint busy_since_;
  TimePoint now_;        // of the decision
  nanoseconds debt_{0};  // overheads that the next running job must pay
  CoreResult result_;
};

}  // namespace takt::sim
