// SPDX-License-Identifier: Apache-2.0
#include "rcl_timer.hpp"

#include <rcl/error_handling.h>

#include <algorithm>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// The timer's callback: when it was called.
thread_local os::TimePoint called_at;

void note_call(rcl_timer_t* /*timer*/, std::int64_t /*since_last_call*/) {
  called_at = os::now();
}

}  // namespace

RclTimer::RclTimer(const Options& options, os::StopFlag& stop)
    : options_{options},
      stop_{stop},
      oneshot_{options.kind == Kind::timer_oneshot},
      interval_{oneshot_ ? options.timeout : options.period} {
  create(interval_);
  if (failure_) {
    destroy();
    throw Failure{*failure_};
  }
}

RclTimer::~RclTimer() {
  destroy();
}

void RclTimer::create(std::chrono::nanoseconds interval) {
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  // It must not run before its start.
  constexpr bool autostart = false;
  const bool created =
      done(rcl_init_options_init(&init_options_, allocator), "rcl_init_options_init") &&
      done(rcl_init(0, nullptr, &init_options_, &context_), "rcl_init") &&
      done(rcl_clock_init(RCL_STEADY_TIME, &clock_, const_cast<rcl_allocator_t*>(&allocator)),
           "rcl_clock_init") &&
      done(rcl_timer_init2(&timer_, &clock_, &context_, interval.count(), note_call, allocator,
                           autostart),
           "rcl_timer_init2") &&
      done(rcl_wait_set_init(&set_, 0, 0, 1, 0, 0, 0, &context_, allocator), "rcl_wait_set_init");
  static_cast<void>(created);  // or failure_ says why not
}

void RclTimer::destroy() noexcept {
  const auto ignore = [](rcl_ret_t result) {
    if (result != RCL_RET_OK) {
      rcl_reset_error();
    }
  };
  ignore(rcl_wait_set_fini(&set_));
  ignore(rcl_timer_fini(&timer_));
  ignore(rcl_clock_fini(&clock_));
  if (rcl_context_is_valid(&context_)) {
    ignore(rcl_shutdown(&context_));
    ignore(rcl_context_fini(&context_));
  }
  ignore(rcl_init_options_fini(&init_options_));
}

bool RclTimer::done(rcl_ret_t result, const char* call) noexcept {
  if (result == RCL_RET_OK) {
    return true;
  }
  failure_ = os::NotGranted{.what = call,
                            .why = rcl_get_error_string().str,
                            .fix = "check the ROS environment (RMW_IMPLEMENTATION, profiles)"};
  rcl_reset_error();
  return false;
}

std::optional<os::TimePoint> RclTimer::start(std::chrono::nanoseconds interval) noexcept {
  if (interval != interval_) {
    std::int64_t former = 0;
    if (!done(rcl_timer_exchange_period(&timer_, interval.count(), &former),
              "rcl_timer_exchange_period")) {
      return {};
    }
    interval_ = interval;
  }
  expected_.reset();
  const auto started = os::now();
  if (!done(rcl_timer_reset(&timer_), "rcl_timer_reset")) {
    return {};
  }
  return started;
}

std::optional<Expiry> RclTimer::wait(os::TimePoint deadline) noexcept {
  const bool busy = options_.wait == Wait::busy;
  do {
    const auto slice =
        busy ? 0ns : std::clamp<std::chrono::nanoseconds>(deadline - os::now(), 0ns, longest_wait);
    if (!done(rcl_wait_set_clear(&set_), "rcl_wait_set_clear") ||
        !done(rcl_wait_set_add_timer(&set_, &timer_, nullptr), "rcl_wait_set_add_timer")) {
      return {};
    }
    const rcl_ret_t waited = rcl_wait(&set_, slice.count());
    if (waited == RCL_RET_TIMEOUT) {
      rcl_reset_error();
      if (busy) {
        give_way(options_);
      }
    } else if (!done(waited, "rcl_wait")) {
      return {};
    } else if (set_.timers[0] != nullptr) {
      return call();
    }
  } while (!stop_.requested() && os::now() < deadline);
  return {};
}

std::optional<Expiry> RclTimer::call() noexcept {
  rcl_timer_call_info_t info{};
  if (!done(rcl_timer_call_with_info(&timer_, &info), "rcl_timer_call_with_info") ||
      (oneshot_ && !done(rcl_timer_cancel(&timer_), "rcl_timer_cancel"))) {
    return {};
  }
  // The expected times lie a period apart, unless rcl passed over some that it was late for.
  const std::int64_t apart = info.expected_call_time - expected_.value_or(info.expected_call_time);
  const std::int64_t periods = (apart + interval_.count() / 2) / interval_.count();
  expected_ = info.expected_call_time;
  return Expiry{
      .called = called_at,
      .reported = std::chrono::nanoseconds{info.actual_call_time - info.expected_call_time},
      .passed_over = static_cast<std::uint64_t>(std::max<std::int64_t>(periods - 1, 0))};
}

void RclTimer::stop() noexcept {
  done(rcl_timer_cancel(&timer_), "rcl_timer_cancel");
}

}  // namespace takt::probe
