// SPDX-License-Identifier: Apache-2.0
//
// The simulator's decisions for a small application, driven from outside: what is released when,
// when a thread looks, what has ended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recorded.hpp"
#include "takt/application/compile.hpp"
#include "takt/sched/compiled_application.hpp"
#include "takt/sched/core_state.hpp"

namespace takt::test {

// Of the decisions that are compared.
struct Executor {
  std::string name;  // of rclcpp, in descriptions
  std::size_t threads = 1;

  [[nodiscard]] bool takes_in_turn() const { return name == "rclcpp_events_cbg"; }
  [[nodiscard]] bool has_threads() const {
    return name == "rclcpp_multi_threaded" || takes_in_turn();
  }
  [[nodiscard]] bool has_wait_set() const {
    return name == "rclcpp_multi_threaded" || name == "rclcpp_single_threaded";
  }
};

// The tasks of a recording and their state on one core, or for threads with a core each.
class Decisions : private sched::CoreListener {
 public:
  Decisions(const std::vector<Drawn>& callbacks, const Executor& executor,
            std::vector<std::size_t> order)
      : executor_(executor),
        order_(std::move(order)),
        tasks_(callbacks.size()),
        runs_(callbacks.size()) {
    application_ = sched::compile_application(
        application::compile(described(callbacks, order_, executor.name, executor.threads)), 1,
        std::vector<std::vector<sched::TaskIndex>>{indices()},
        [](const std::string&) { return static_cast<sched::Topic*>(nullptr); });
    std::vector<std::uint32_t> groups;
    for (std::size_t place = 0; place < order_.size(); ++place) {
      const Drawn& drawn = callbacks[order_[place]];
      sched::CoreTask& task = tasks_[order_[place]];
      task.index = static_cast<sched::TaskIndex>(place);
      task.kind = drawn.is_timer() ? sched::TaskKind::timer : sched::TaskKind::message;
      task.group = executor.has_threads() ? group_of(drawn, order_[place]) : 0;
      task.messages = sched::MessageReleases{queue};
      groups.push_back(task.group);
      by_index_.push_back(&task);
      if (drawn.reentrant && executor.name == "rclcpp_multi_threaded") {
        add_runners(task);
      }
    }
    CoreListener& self = *this;
    state_ = std::make_unique<sched::CoreState>(
        self, application_->strategy.scenarios().front().policy(), false, tasks_.size());
    if (executor.has_threads()) {
      state_->share_among(executor.threads, groups, executor.takes_in_turn());
    } else {
      state_->set_depth(1);
      if (executor.has_wait_set()) {
        state_->collect_in_rounds();
      }
    }
    state_->follow(*application_->targets.front(), 0, by_index_, TimePoint{});
    expiries_.resize(callbacks.size());
    for (sched::CoreTask& task : tasks_) {
      if (task.kind == sched::TaskKind::timer) {
        static_cast<void>(task.timer.disarm());
        state_->look(task);
      }
    }
  }

  [[nodiscard]] bool has_free_thread() const {
    return state_->started().size() < executor_.threads;
  }

  void release(std::size_t callback, TimePoint time) {
    sched::CoreTask& task = tasks_[callback];
    if (task.kind == sched::TaskKind::message) {
      ASSERT_TRUE(state_->arrive(task, time, 0));
      return;
    }
    expiries_[callback].push_back(time);
    if (expiries_[callback].size() == 1) {
      arm(callback);
    }
  }

  // The callback that a free thread takes now; nothing: none.
  [[nodiscard]] std::optional<std::size_t> look(TimePoint now) {
    state_->collect_due(now);
    TimePoint unused{};
    chosen_ = state_->choose(now, unused);
    return chosen_ == nullptr ? std::nullopt : std::optional{order_[chosen_->task]};
  }

  // Whether the job of a callback is ready.
  [[nodiscard]] bool is_ready(std::size_t callback) const {
    return tasks_[callback].phase == sched::CoreTask::Phase::pending;
  }

  // It takes another callback than look() has returned, which is ready.
  void take_instead(std::size_t callback) {
    const auto pending = state_->pending();
    chosen_ = &*std::ranges::find(pending, tasks_[callback].index, &sched::Job::task);
  }

  // It takes what look() has returned.
  void start(TimePoint now) {
    sched::CoreTask& runs = *state_->start(*chosen_).task;
    state_->settle_start(runs, now);
    const std::size_t callback = order_[runs.index];
    runs_[callback].push_back(&runs);
    sched::CoreTask& task = tasks_[callback];
    if (task.kind == sched::TaskKind::timer) {
      expiries_[callback].pop_front();
      if (expiries_[callback].empty()) {
        static_cast<void>(task.timer.disarm());
        state_->look(task);
      } else {
        arm(callback);
      }
    }
  }

  // `number`: of the job, among those of the callback.
  void end(std::size_t callback, std::size_t number, TimePoint now) {
    sched::CoreTask& task = *runs_[callback][number];
    state_->settle(task, now);
    state_->end(task);
  }

 private:
  static constexpr std::size_t queue = 1000;

  [[nodiscard]] std::vector<sched::TaskIndex> indices() const {
    std::vector<sched::TaskIndex> all(order_.size());
    std::iota(all.begin(), all.end(), sched::TaskIndex{0});
    return all;
  }

  // EventsCBGExecutor of rclcpp 29.5.9 does not ask whether a group is reentrant. To the wait set,
  // a callback of such a group has none.
  [[nodiscard]] std::uint32_t group_of(const Drawn& drawn, std::size_t callback) const {
    constexpr std::uint32_t reentrant = 3;
    if (drawn.reentrant) {
      return executor_.takes_in_turn() ? reentrant : 0;
    }
    return drawn.group > 0 ? static_cast<std::uint32_t>(drawn.group)
                           : static_cast<std::uint32_t>(reentrant + 1 + callback);
  }

  void add_runners(sched::CoreTask& task) {
    for (std::size_t i = 0; i < executor_.threads; ++i) {
      sched::CoreTask& runner = runners_.emplace_back();
      runner.index = task.index;
      runner.kind = task.kind;
      runner.phase = sched::CoreTask::Phase::idle;
      runner.runner = std::exchange(task.runner, &runner);
    }
  }

  void arm(std::size_t callback) {
    tasks_[callback].timer.release_at(expiries_[callback].front());
    state_->look(tasks_[callback]);
  }

  void released(sched::CoreTask&, const sched::Job&, const sched::Release*) noexcept override {}
  void skipped(sched::CoreTask&, const sched::Skipped&) noexcept override {}
  void dropped(sched::CoreTask&, const sched::Job&) noexcept override {}
  void boosted(sched::CoreTask&, const sched::Job&, std::size_t) noexcept override {}
  void wanted(sched::TaskIndex) noexcept override {}

  Executor executor_;
  std::vector<std::size_t> order_;      // callbacks by index
  std::vector<sched::CoreTask> tasks_;  // by callback
  std::deque<sched::CoreTask> runners_;
  std::vector<sched::CoreTask*> by_index_;
  std::vector<std::vector<sched::CoreTask*>> runs_;  // by callback, by job: what runs it
  std::vector<std::deque<TimePoint>> expiries_;      // by callback: of timers, not taken
  std::unique_ptr<sched::CompiledApplication> application_;
  std::unique_ptr<sched::CoreState> state_;
  const sched::Job* chosen_ = nullptr;
};

}  // namespace takt::test
