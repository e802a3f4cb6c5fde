// SPDX-License-Identifier: Apache-2.0
//
// A thread under SCHED_DEADLINE in virtual time: the constant bandwidth server of the kernel
// (Abeni & Buttazzo 1998), as kernel/sched/deadline.c has it. In each period it may run for
// `runtime`; who has used it up is throttled until the next one. Among servers the earliest
// deadline goes first.
//
// When its process wakes up, what is left of the runtime counts only if it is not more than the
// share of the time until the deadline. Else a server whose deadline is its period gets a new
// one; of one with an earlier deadline the runtime is cut (Abeni, Lipari et al. 2017).
#pragma once

#include "takt/application/reservation.hpp"
#include "takt/os/clock.hpp"

namespace takt::sim {

using os::TimePoint;
using std::chrono::nanoseconds;

class Server {
 public:
  explicit Server(const application::Reservation& reservation) noexcept
      : reservation_(reservation) {}

  // Accounts for the time since the last call, and throttles it or gives it a new runtime. To be
  // called before each decision; `has_work`: whether its process has something to run.
  void look(TimePoint now, bool has_work) noexcept;
  // Whether it has the core from now on.
  void set_running(bool running) noexcept { running_ = running; }
  // Its process has nothing to run any more.
  void sleep() noexcept { awake_ = running_ = false; }

  // Whether it may run, if nobody goes before it.
  [[nodiscard]] bool is_ready() const noexcept { return awake_ && !throttled_; }
  [[nodiscard]] bool is_awake() const noexcept { return awake_; }
  [[nodiscard]] TimePoint deadline() const noexcept { return begin_ + reservation_.deadline; }
  // When it is throttled, or is no more; max(): others decide.
  [[nodiscard]] TimePoint next() const noexcept;

 private:
  void wake(TimePoint now) noexcept;
  void begin_period(TimePoint begin) noexcept;
  [[nodiscard]] bool has_too_much(TimePoint now) const noexcept;

  application::Reservation reservation_;
  bool begun_ = false;  // its first period
  bool awake_ = false;
  bool running_ = false;
  bool throttled_ = false;
  TimePoint begin_{};
  nanoseconds left_{0};
  TimePoint since_{};
};

}  // namespace takt::sim
