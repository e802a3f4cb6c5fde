// SPDX-License-Identifier: Apache-2.0
#include "timer_sources.hpp"

#include <rcl/error_handling.h>
#include <rcl/timer.h>

#include <algorithm>
#include <optional>
#include <rclcpp/exceptions.hpp>
#include <utility>

#include "core_names.hpp"
#include "doors.hpp"
#include "open_executor.hpp"
#include "takt/os/saturating.hpp"

namespace takt_rclcpp {
namespace {

// When rcl has it called next, on the executor's clock: a moment late, never early. All releases
// that follow keep what is lost between the two clocks, so they are read again where the thread
// lost its core there.
os::TimePoint due(rclcpp::TimerBase& timer) {
  constexpr std::chrono::microseconds moment{10};
  os::TimePoint due = os::TimePoint::max();
  for (int readings = 0; readings < 4; ++readings) {
    const os::TimePoint before = os::now();
    const nanoseconds left = timer.time_until_trigger();
    const os::TimePoint after = os::now();
    due = std::min(due, os::add_sat(after, left));
    if (after - before < moment) {
      break;
    }
  }
  return due;
}

void check(rcl_ret_t code, const char* what) {
  if (code != RCL_RET_OK) {
    rclcpp::exceptions::throw_from_rcl_error(code, what);
  }
}

void exchange_period(rclcpp::TimerBase& timer, nanoseconds period) {
  std::int64_t before = 0;
  check(rcl_timer_exchange_period(timer.get_timer_handle().get(), period.count(), &before),
        "cannot tell a timer its period");
}

using Act = std::function<void()>;

// Of the process, as timers may outlive executors.
Doors<const Act>& doors() {
  static auto& of_process = *new Doors<const Act>;  // NOLINT(cppcoreguidelines-owning-memory)
  return of_process;
}

using ResetsDoor = Door<const Act, doors>;

}  // namespace

bool is_simulated(rclcpp::Clock& clock) {
  return clock.get_clock_type() == RCL_ROS_TIME && clock.ros_time_is_active();
}

nanoseconds period_of(rclcpp::TimerBase& timer) {
  std::int64_t period = 0;
  check(rcl_timer_get_period(timer.get_timer_handle().get(), &period),
        "cannot ask a timer for its period");
  return nanoseconds{period};
}

struct ResetHook::Kept {
  explicit Kept(Act act) : door{std::make_shared<const Act>(std::move(act))} {}

  ResetsDoor door;
};

ResetHook::ResetHook() = default;
ResetHook::~ResetHook() = default;

void ResetHook::listen(rclcpp::TimerBase& timer, std::function<void()> act) {
  kept_ = std::make_unique<Kept>(std::move(act));
  check(rcl_timer_set_on_reset_callback(
            timer.get_timer_handle().get(),
            [](const void* data, std::size_t /*resets*/) {
              ResetsDoor::enter(data, [](const Act& act_now) { act_now(); });
            },
            kept_->door.key()),
        "cannot hear of the resets of a timer");
}

// rcl keeps the hook: it asks whether there is one and calls it in two steps, and another thread
// may be between them. Its door is closed.
void ResetHook::silence() noexcept {
  kept_.reset();
}

bool is_polled(rclcpp::TimerBase& timer) {
  return is_simulated(*timer.get_clock());
}

SteadyTimerSource::SteadyTimerSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                                     std::shared_ptr<Bell> bell,
                                     const rclcpp::TimerBase::SharedPtr& timer)
    : Source{std::move(id), std::move(task), std::move(group), std::move(bell)},
      timer_{timer},
      handle_{timer->get_timer_handle().get()},
      steady_{timer->is_steady()},
      period_{this->id().period} {}

void SteadyTimerSource::listen(const Releases& releases) {
  const auto timer = timer_.lock();
  if (timer == nullptr) {
    return;
  }
  {
    const std::lock_guard lock{mutex_};
    releases_ = releases;
    period_ = id().period;
    out_of_step_ = false;
    is_armed_ = true;
  }
  resets_.listen(*timer, [self = shared_from_this()] {
    if (const auto reset = self->timer_.lock()) {
      self->reset_at_.store(os::now());
      self->follow(*reset);
    }
  });
  follow(*timer);
}

void SteadyTimerSource::silence() noexcept {
  const auto timer = timer_.lock();
  resets_.silence();
  const std::lock_guard lock{mutex_};
  releases_ = {};
  is_armed_ = false;
  try {
    if (timer && period_ != id().period) {
      exchange_period(*timer, id().period);  // a scenario's; the node has its own again
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): rcl has no timer any more
  }
}

bool SteadyTimerSource::is_outdated() const {
  const auto timer = timer_.lock();
  return timer != nullptr && is_polled(*timer);
}

void SteadyTimerSource::catch_up() {
  const auto timer = timer_.lock();
  if (timer != nullptr && refused_.exchange(false)) {
    follow(*timer);
  }
}

// The next release is when rcl says so, those after it a period behind each other.
void SteadyTimerSource::follow(rclcpp::TimerBase& timer) noexcept {
  const std::lock_guard lock{mutex_};
  bool followed = true;
  try {
    if (timer.is_canceled()) {
      followed = releases_.disarm();
    } else {
      followed = releases_.release_at(due(timer), period_);
    }
  } catch (...) {
    bell().fail(std::current_exception());
  }
  if (!followed) {
    refused_.store(true);
    bell().ring();
  }
}

// When rcl believes that it is called next; nothing: never, it is cancelled.
std::optional<os::TimePoint> SteadyTimerSource::expected(rclcpp::TimerBase& timer) const {
  if (!steady_) {
    const nanoseconds left = timer.time_until_trigger();
    return left == nanoseconds::max() ? std::nullopt : std::optional{os::add_sat(os::now(), left)};
  }
  std::int64_t next = 0;
  const rcl_ret_t code = rcl_timer_get_next_call_time(handle_, &next);
  if (code == RCL_RET_TIMER_CANCELED) {
    rcl_reset_error();
    return {};
  }
  check(code, "cannot ask a timer for its next call");
  return os::TimePoint{nanoseconds{next}};  // of the same clock
}

// Unless its task is being taken out: then the node has its own period again.
void SteadyTimerSource::announce_period(rclcpp::TimerBase& timer, nanoseconds period) {
  const std::lock_guard lock{mutex_};
  if (is_armed_) {
    exchange_period(timer, period);
  }
}

// Each call moves rcl's next one by rcl's period, which leads to the executor's next release as
// long as both have the same. Where they have not, the call is made with what is missing as the
// period. It does not go back: where rcl is ahead by more than a period, it waits for the executor
// to come there. Where rcl is behind, it finds back to its phase by itself.
std::shared_ptr<void> SteadyTimerSource::call(rclcpp::TimerBase& timer, const sched::Job& job) {
  constexpr std::chrono::microseconds moment{100};
  constexpr std::chrono::microseconds shortest{1};
  const auto lock =
      lanes() > 1 ? std::unique_lock{calling_} : std::unique_lock<executor::PriorityMutex>{};
  const nanoseconds period = job.period / static_cast<std::int64_t>(lanes());
  const bool same = period == period_ && !out_of_step_;
  if (same && !steady_) {
    return timer.call();
  }
  const auto believed = expected(timer);
  if (!believed || (same && os::sub_sat(*believed, job.release) <= moment)) {
    return timer.call();
  }
  {
    const std::lock_guard guard{mutex_};
    period_ = period;
  }
  const os::TimePoint next = os::add_sat(job.release, period);
  const nanoseconds missing = os::sub_sat(next, *believed);
  announce_period(timer, std::max<nanoseconds>(missing, shortest));
  std::shared_ptr<void> called = timer.call();
  announce_period(timer, period);
  // A call that is later than the next release moves on by as many of these steps as it takes.
  out_of_step_ = missing < shortest || next <= os::now();
  return called;
}

void SteadyTimerSource::work(const sched::Job& job) {
  const auto timer = timer_.lock();
  if (timer == nullptr) {
    return;
  }
  if (job.release < reset_at_.load() && timer->time_until_trigger().count() > 0) {
    return;
  }
  if (!steady_ && is_simulated(*timer->get_clock())) {
    bell().ring();  // another source takes its place
    return;
  }
  const std::shared_ptr<void> called = call(*timer, job);
  if (called == nullptr) {
    rcl_reset_error();  // rclcpp leaves it: the next error of this thread would complain of it
    follow(*timer);     // cancelled; or reset since, which is told by its own hook, too
    return;
  }
  if (!steady_) {
    follow(*timer);  // its clock may have been set
  }
  OpenExecutor::execute_timer(timer, called);
}

PolledTimerSource::PolledTimerSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                                     std::shared_ptr<Bell> bell,
                                     const rclcpp::TimerBase::SharedPtr& timer)
    : Source{std::move(id), std::move(task), std::move(group), std::move(bell)},
      due_{std::make_shared<Due>()} {
  due_->timer = timer;
}

void PolledTimerSource::Due::look() noexcept {
  const auto looked_at = timer.lock();
  if (looked_at == nullptr) {
    return;
  }
  const std::lock_guard lock{mutex};
  if (pending && release.dropped() != dropped) {
    pending = false;  // in a scenario without this timer: no job comes of it
  }
  if (!pending && !looked_at->is_canceled() && looked_at->time_until_trigger().count() <= 0) {
    dropped = release.dropped();
    pending = release.notify();
  }
}

void PolledTimerSource::listen(const Releases& releases) {
  const auto timer = due_->timer.lock();
  if (timer == nullptr) {
    return;
  }
  {
    const std::lock_guard lock{due_->mutex};
    due_->release = releases;
    due_->pending = false;
  }
  rcl_jump_threshold_t every_change{};
  every_change.on_clock_change = true;
  every_change.min_forward.nanoseconds = 1;
  every_change.min_backward.nanoseconds = -1;
  jumps_ = timer->get_clock()->create_jump_callback(
      nullptr,
      [due = due_, bell = shared_bell()](const rcl_time_jump_t& jump) {
        if (jump.clock_change == RCL_ROS_TIME_DEACTIVATED) {
          bell->ring();  // another source takes its place
        }
        due->look();
      },
      every_change);
  resets_.listen(*timer, [due = due_] { due->look(); });
  due_->look();
}

void PolledTimerSource::silence() noexcept {
  resets_.silence();
  jumps_.reset();
  const std::lock_guard lock{due_->mutex};
  due_->release = {};
}

bool PolledTimerSource::is_outdated() const {
  const auto timer = due_->timer.lock();
  return timer != nullptr && !is_polled(*timer);
}

void PolledTimerSource::work(const sched::Job& /*job*/) {
  const auto timer = due_->timer.lock();
  if (timer == nullptr) {
    return;
  }
  std::shared_ptr<void> call;
  {
    const std::lock_guard lock{due_->mutex};
    due_->pending = false;
    // Time may have gone back since.
    if (!timer->is_canceled() && timer->time_until_trigger().count() <= 0) {
      call = timer->call();
    }
  }
  if (call == nullptr) {
    rcl_reset_error();  // as above, where it was cancelled meanwhile
  } else {
    OpenExecutor::execute_timer(timer, call);
  }
  if (id().period.count() > 0) {
    due_->look();
  }
}

}  // namespace takt_rclcpp
