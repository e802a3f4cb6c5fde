// SPDX-License-Identifier: Apache-2.0
//
// A core with random tasks under random sequences of everything that can happen to it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core_tasks.hpp"
#include "takt/sched/age_requests.hpp"
#include "takt/sched/core_state.hpp"
#include "takt/sched/policies.hpp"

namespace takt::sched {

using namespace std::chrono_literals;

// Drives a core and remembers what became of every release.
class World : private CoreListener {
 public:
  // `at_once`: messages arrive by arrive_now().
  World(const std::string& policy, unsigned seed, bool at_once = false)
      : at_once_(at_once), random_(seed), policy_(parse_policy(policy)) {
    const std::size_t count = 2 + random_() % 7;
    for (std::size_t i = 0; i < count; ++i) {
      descriptions_.push_back(draw_task("task" + std::to_string(i), *policy_, random_));
      tasks_.push_back(std::make_unique<CoreTask>());
      CoreTask& task = *tasks_.back();
      task.index = static_cast<TaskIndex>(i);
      task.kind = descriptions_.back().kind;
      const std::string& group = descriptions_.back().group;
      task.group = group.empty() ? 0U : 1U + static_cast<unsigned char>(group.back());
      task.messages = MessageReleases{3};
      by_index_.push_back(&task);
      present_.insert(task.index);
    }
    CoreListener& self = *this;
    // Where scenarios have different policies, levels are looked up, and not read from priorities.
    const bool fixed = policy_->fixed_priority() && policy_->preemptive() && seed % 3 != 0;
    state_ = std::make_unique<CoreState>(self, *policy_, fixed, count);
    follow(TimePoint{});
  }

  void step() {
    const TimePoint next = std::min(state_->calendar().first_time(), now_ + 3ns);
    switch (random_() % 10) {
      case 0:
        now_ = next < now_ + 100ns ? std::max(next, now_) : now_ + 5ns;
        break;
      case 1:
        arrive();
        break;
      case 2:
        come_and_go();
        break;
      case 3:
        change_parameters();
        break;
      case 4:
        set_timer();
        break;
      case 5:
        wait_or_resume();
        break;
      case 6:
        now_ += std::chrono::nanoseconds{random_() % 7};
        break;
      default:
        end_running();
    }
    if (random_() % 50 == 0) {
      CoreState::Room room{*policy_, state_->capacity() + random_() % 3};
      state_->move_to(room);
    }
    state_->release_due(now_);
    expect_what_readers_need();
    decide();
  }

  // How often data was asked for while its source's job was under way, and how often that job came
  // before others by that.
  [[nodiscard]] int asked() const { return asked_; }
  [[nodiscard]] int boosts() const { return boosted_; }
  // How many messages found their task idle.
  [[nodiscard]] int messages() const { return messages_; }

  // What became of each message and release, and what started.
  void expect_same(const World& other) const {
    ASSERT_EQ(kept_, other.kept_);
    ASSERT_EQ(reported_, other.reported_);
    ASSERT_EQ(released_, other.released_);
    ASSERT_EQ(jobs_, other.jobs_);
  }

  // Every release was told once, as a job or as dropped; but for one that is remembered.
  void expect_nothing_lost() {
    for (auto& [task, indices] : reported_) {
      std::ranges::sort(indices);
      ASSERT_EQ(std::ranges::adjacent_find(indices), indices.end()) << "task " << task;
      ASSERT_LE(indices.back() + 1 - indices.size(), 1U) << "task " << task;
    }
  }

 private:
  void follow(TimePoint time) {
    const std::vector<std::vector<TaskIndex>> cores{{present_.begin(), present_.end()}};
    CompiledStrategy strategy{
        descriptions_, policy_, {.cpus = {0}, .external_topics = {"outside", "scan", "map"}}};
    applications_.push_back(
        compile_application(std::move(strategy), ++version_, cores,
                            [](const std::string&) { return static_cast<Topic*>(nullptr); }));
    state_->follow(*applications_.back()->targets.front(), 0, by_index_, time);
  }

  void come_and_go() {
    const auto index = static_cast<TaskIndex>(random_() % descriptions_.size());
    if (present_.contains(index)) {
      present_.erase(index);
    } else if (by_index_[index]->phase == CoreTask::Phase::absent) {
      present_.insert(index);
    }
    follow(now_);
  }

  void change_parameters() {
    draw_parameters(descriptions_[random_() % descriptions_.size()].parameters, *policy_, random_);
    follow(now_);
  }

  // Also where releases before it have not been noticed.
  void arrive() {
    now_ += std::chrono::nanoseconds{random_() % 3};
    CoreTask& task = *by_index_[random_() % by_index_.size()];
    if (task.kind == TaskKind::message && present_.contains(task.index)) {
      const auto value = static_cast<std::int64_t>(random_() % 100);
      messages_ += task.phase == CoreTask::Phase::idle ? 1 : 0;
      kept_.push_back(at_once_ ? state_->arrive_now(task, now_, value)
                               : state_->arrive(task, now_, value));
    }
  }

  void set_timer() {
    CoreTask& task = *by_index_[random_() % by_index_.size()];
    if (task.kind == TaskKind::timer && present_.contains(task.index)) {
      if (random_() % 3 == 0) {
        if (const Skipped skip = task.timer.disarm(); skip.count != 0) {
          skipped(task, skip);
        }
      } else {
        task.timer.release_at(now_ + std::chrono::nanoseconds{random_() % 10});
      }
      state_->look(task);
    }
  }

  void wait_or_resume() {
    const auto started = state_->started();
    if (started.empty() || !policy_->preemptive()) {
      return;
    }
    CoreTask& task = *started[random_() % started.size()].task;
    if (waiting_.contains(task.index)) {
      state_->resume(task);
      waiting_.erase(task.index);
    } else if (state_->running() != nullptr && state_->running()->task == &task &&
               task.group == 0) {
      state_->wait(task);
      waiting_.insert(task.index);
    }
  }

  void end_running() {
    const auto* const running = state_->running();
    if (running != nullptr) {
      CoreTask& task = *running->task;
      state_->settle(task, now_);
      state_->end(task);
    }
  }

  // What is chosen comes before all that pend and before what runs, and excludes nobody; and where
  // nobody is chosen, there is a reason.
  void decide() {
    const std::vector<Job> pending{state_->pending().begin(), state_->pending().end()};
    const auto* const running = state_->running();
    TimePoint idle_until = TimePoint::max();
    const Job* const chosen = state_->choose(now_, idle_until);
    if (chosen == nullptr) {
      expect_reason(pending, running, idle_until);
      expect_nobody_is_overlooked();
      return;
    }
    const Job job = *chosen;
    if (policy_->work_conserving()) {
      for (const Job& other : pending) {
        ASSERT_FALSE(runs_before(*policy_, other, job));
      }
    }
    if (running != nullptr) {
      ASSERT_TRUE(policy_->preemptive());
      ASSERT_TRUE(policy_->before(job, running->job));
    }
    const std::uint32_t group = by_index_[job.task]->group;
    for (const auto& started : state_->started()) {
      ASSERT_TRUE(group == 0 || started.task->group != group) << "two jobs of one group";
      ASSERT_NE(started.job.task, job.task) << "two jobs of one task";
    }
    ASSERT_LE(job.release, now_);
    const auto& started = state_->start(*chosen);
    jobs_.emplace_back(job.task, job.index, job.value, job.release, job.deadline, now_);
    ASSERT_EQ(started.job.task, job.task);
    ASSERT_EQ(state_->running()->job.task, job.task);
  }

  // Whoever has asked for data is served by a job of its own priority. Nobody else's is raised.
  void expect_what_readers_need() {
    const auto look_at = [&](const Job& job) {
      const TaskParameters& parameters = state_->target()->scenario->parameters(job.task);
      const bool asked =
          std::ranges::any_of(state_->target()->by_source[job.task], [&](const AgeWatch* watch) {
            return TimePoint{std::chrono::nanoseconds{watch->at}} <= now_;
          });
      if (policy_->fixed_priority() && asked && !by_index_[job.task]->boosted &&
          !by_index_[job.task]->leaves) {
        ASSERT_GE(job.priority, parameters.boosted_priority) << "task " << job.task;
      }
      asked_ += asked ? 1 : 0;
    };
    std::ranges::for_each(state_->pending(), look_at);
    for (const auto& started : state_->started()) {
      look_at(started.job);
    }
    const auto* const running = state_->running();
    for (const auto& started : state_->started()) {
      if (running != nullptr && policy_->fixed_priority() && policy_->preemptive() &&
          !started.waits && started.level != no_ceiling) {  // else of parameters before a change
        ASSERT_LE(started.job.priority, std::max(running->level, running->ceiling));
      }
    }
  }

  void expect_reason(const std::vector<Job>& pending, const CoreState::Started* running,
                     TimePoint idle_until) {
    if (pending.empty() || idle_until != TimePoint::max()) {
      return;
    }
    const Job& best = pending[first_job(*policy_, pending)];
    const bool worse =
        running != nullptr && (!policy_->preemptive() || !policy_->before(best, running->job));
    const bool excluded = std::ranges::any_of(
        state_->started(), [&](const auto& started) { return keeps_out(started, best); });
    ASSERT_TRUE(worse || excluded) << "nobody runs although somebody could";
  }

  // Whether the group that a started job holds may keep out a pending one.
  bool keeps_out(const CoreState::Started& started, const Job& pending) const {
    const CoreTask& task = *by_index_[pending.task];
    if (started.ceiling == no_ceiling) {
      return false;
    }
    if (!policy_->fixed_priority() || task.under->id != state_->target()->id) {
      return true;
    }
    return started.ceiling >= pending.priority || started.task->group == task.group;
  }

  // A release before the next look could not start, were it noticed.
  void expect_nobody_is_overlooked() {
    const auto* const running = state_->running();
    if (running == nullptr) {
      return;
    }
    const TimePoint look = state_->next_look();
    expect_no_request_is_overlooked(*running, look);
    // Its level is that of the present parameters, its job has those of its release.
    if (deadline_of(*running->task->under, running->job.task) !=
        deadline_of(*state_->target(), running->job.task)) {
      return;
    }
    for (CoreTask* const task : state_->members()) {
      const auto next = task->next_release();
      if (task->phase != CoreTask::Phase::idle || !next || next->time >= look ||
          next->time <= now_) {
        continue;
      }
      const Job job = state_->target()->scenario->job(task->index, next->index, next->time);
      const bool excluded = std::ranges::any_of(
          state_->started(), [](const auto& started) { return started.ceiling != no_ceiling; });
      ASSERT_TRUE(!policy_->preemptive() || excluded || !policy_->before(job, running->job))
          << "task " << task->index << " would start before anybody looks: its release at "
          << next->time.time_since_epoch().count() << " is due at "
          << job.deadline.time_since_epoch().count() << ", what runs since "
          << running->job.release.time_since_epoch().count() << " at "
          << running->job.deadline.time_since_epoch().count() << ", level " << running->level
          << ", look at " << look.time_since_epoch().count();
    }
  }

  static std::chrono::nanoseconds deadline_of(const Target& target, TaskIndex task) {
    return relative_deadline(target.scenario->parameters(task));
  }

  void expect_no_request_is_overlooked(const CoreState::Started& running, TimePoint look) {
    if (!policy_->fixed_priority() || !policy_->preemptive()) {
      return;
    }
    const auto look_at = [&](const Job& job) {
      const TimePoint request = time_of_request(*state_->target(), job.task);
      const int boosted = state_->target()->scenario->parameters(job.task).boosted_priority;
      const CoreTask& task = *by_index_[job.task];
      if (job.priority < boosted && !task.boosted && !task.leaves && request < look) {
        ASSERT_LE(boosted, std::max(running.level, running.ceiling))
            << "task " << job.task << " would come before what runs";
      }
    };
    std::ranges::for_each(state_->pending(), look_at);
    for (const auto& started : state_->started()) {
      look_at(started.job);
    }
  }

  void released(CoreTask& task, const Job& job, const Release* /*regular*/) noexcept override {
    reported_[task.index].push_back(job.index);
    released_.push_back(task.index);
  }
  void skipped(CoreTask& task, const Skipped& skip) noexcept override {
    for (std::uint64_t i = 0; i < skip.count; ++i) {
      reported_[task.index].push_back(skip.first.index + i);
    }
  }
  void dropped(CoreTask& /*task*/, const Job& /*job*/) noexcept override {}
  void boosted(CoreTask& task, const Job& /*job*/, std::size_t above) noexcept override {
    boosted_ += task.phase == CoreTask::Phase::started && above == 0 && state_->started().size() > 1
                    ? 1
                    : 0;
  }
  void wanted(TaskIndex source) noexcept override {
    if (by_index_[source]->phase != CoreTask::Phase::absent) {
      state_->look(*by_index_[source]);
    }
  }

  const bool at_once_;
  std::mt19937 random_;
  PolicyPtr policy_;
  std::vector<Task> descriptions_;
  std::vector<std::unique_ptr<CoreTask>> tasks_;
  std::vector<CoreTask*> by_index_;
  std::set<TaskIndex> present_;
  std::set<TaskIndex> waiting_;
  std::vector<std::unique_ptr<CompiledApplication>> applications_;
  std::uint64_t version_ = 0;
  std::unique_ptr<CoreState> state_;
  TimePoint now_{};
  int asked_ = 0;
  int boosted_ = 0;
  int messages_ = 0;
  std::vector<bool> kept_;
  std::vector<TaskIndex> released_;  // of all jobs, in their order
  // Task, index and value of each job that started, its release, its deadline, its start.
  std::vector<std::tuple<TaskIndex, std::uint64_t, std::int64_t, TimePoint, TimePoint, TimePoint>>
      jobs_;
  std::map<TaskIndex, std::vector<std::uint64_t>> reported_;
};

}  // namespace takt::sched
