// SPDX-License-Identifier: Apache-2.0
//
// Timers of rclcpp: their phase, resets and cancellations are the node's, from any thread.
//
// SteadyTimerSource: on the steady clock, and on the system's clock as long as it follows that. Its
// releases are the executor's own timer, which follows what rcl says of the next call. Where they
// are other ones than the node's, because a scenario has another period or data is wanted earlier,
// rcl is kept in step with them: TimerInfo, time_until_trigger(), and whoever executes the node
// next, go by what rcl believes.
//
// PolledTimerSource: on ROS time that somebody publishes. Whenever that time changes, the timer is
// looked at, and released when it is due: at any speed, not at all while it pauses.
//
// A timer without a period is always due. It would take its core from all below it, so that it is
// released every `shortest_period`, and once for each change of a time that somebody publishes.
#pragma once

#include <rcl/timer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <rclcpp/clock.hpp>
#include <rclcpp/timer.hpp>

#include "core_names.hpp"
#include "source.hpp"

namespace takt_rclcpp {

// Whether the clock's time is what others publish.
[[nodiscard]] bool is_simulated(rclcpp::Clock& clock);

// As a timer is released at most.
inline constexpr std::chrono::microseconds shortest_period{100};

// Which of the two follows it now.
[[nodiscard]] bool is_polled(rclcpp::TimerBase& timer);
[[nodiscard]] nanoseconds period_of(rclcpp::TimerBase& timer);

// Hears of the resets of one timer, from any thread. rclcpp keeps such a hook under a lock of its
// own, which it takes when a timer is reset. Actions reset theirs by rcl, without it: so rcl is
// asked itself, and what it is given is no pointer (doors.hpp).
class ResetHook {
 public:
  ResetHook();
  ~ResetHook();
  ResetHook(const ResetHook&) = delete;
  ResetHook& operator=(const ResetHook&) = delete;
  ResetHook(ResetHook&&) = delete;
  ResetHook& operator=(ResetHook&&) = delete;

  // `act` is kept until the last one who is at it has left.
  void listen(rclcpp::TimerBase& timer, std::function<void()> act);
  void silence() noexcept;

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

class SteadyTimerSource final : public Source,
                                public std::enable_shared_from_this<SteadyTimerSource> {
 public:
  SteadyTimerSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                    std::shared_ptr<Bell> bell, const rclcpp::TimerBase::SharedPtr& timer);

  [[nodiscard]] bool is_outdated() const override;
  void catch_up() override;

 private:
  void listen(const Releases& releases) override;
  void silence() noexcept override;
  void work(const sched::Job& job) override;
  void follow(rclcpp::TimerBase& timer) noexcept;
  [[nodiscard]] std::optional<os::TimePoint> expected(rclcpp::TimerBase& timer) const;
  [[nodiscard]] std::shared_ptr<void> call(rclcpp::TimerBase& timer, const sched::Job& job);
  void announce_period(rclcpp::TimerBase& timer, nanoseconds period);

  const std::weak_ptr<rclcpp::TimerBase> timer_;
  const rcl_timer_t* const handle_;  // as long as that is there
  const bool steady_;
  nanoseconds period_{0};          // of the scenario, which rcl has, too; written under the mutex
  bool out_of_step_ = false;       // rcl believes in another next call than the executor's
  executor::PriorityMutex mutex_;  // between a reset and a job that finds the timer cancelled
  std::atomic<os::TimePoint> reset_at_{};  // jobs released before are not its any more
  executor::PriorityMutex calling_;        // where it has lanes: one calls rcl at a time
  Releases releases_;
  bool is_armed_ = false;             // under the mutex
  std::atomic<bool> refused_{false};  // the executor below could not take up a change
  ResetHook resets_;
};

class PolledTimerSource final : public Source {
 public:
  PolledTimerSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                    std::shared_ptr<Bell> bell, const rclcpp::TimerBase::SharedPtr& timer);

  [[nodiscard]] bool is_outdated() const override;

 private:
  void listen(const Releases& releases) override;
  void silence() noexcept override;
  // Shared with the hooks of timer and clock, which may outlive the task for a moment.
  struct Due {
    std::weak_ptr<rclcpp::TimerBase> timer;
    executor::PriorityMutex mutex;
    Releases release;
    bool pending = false;
    std::uint64_t dropped = 0;  // releases that the executor had dropped when it was told

    void look() noexcept;
  };

  void work(const sched::Job& job) override;

  const std::shared_ptr<Due> due_;
  rclcpp::JumpHandler::SharedPtr jumps_;
  ResetHook resets_;
};

}  // namespace takt_rclcpp
