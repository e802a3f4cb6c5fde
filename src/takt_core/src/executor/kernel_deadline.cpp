// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/kernel_deadline.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>

namespace takt::executor {
namespace {

// glibc has neither the call nor its structure; linux/sched/types.h collides with <sched.h>.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 6;  // SCHED_DEADLINE
  std::uint64_t flags = 1;   // SCHED_FLAG_RESET_ON_FORK
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

std::string milliseconds(std::chrono::nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g ms", static_cast<double>(time.count()) * 1e-6);
  return text.data();
}

}  // namespace

std::optional<os::NotGranted> reserve(const Reservation& reservation, const std::string& what,
                                      pid_t thread) {
  SchedulingAttributes attributes;
  attributes.runtime = static_cast<std::uint64_t>(reservation.runtime.count());
  attributes.deadline = static_cast<std::uint64_t>(reservation.deadline.count());
  attributes.period = static_cast<std::uint64_t>(reservation.period.count());
  if (syscall(SYS_sched_setattr, thread, &attributes, 0U) == 0) {
    return {};
  }
  const int error = errno;
  os::NotGranted refused_setting{.what = what + " under SCHED_DEADLINE (" +
                                         milliseconds(reservation.runtime) + " in every " +
                                         milliseconds(reservation.period) + ", within " +
                                         milliseconds(reservation.deadline) + ")",
                                 .why = "sched_setattr: " + os::error_text(error),
                                 .fix = {}};
  switch (error) {
    case EBUSY:
      refused_setting.why +=
          " (admission test: the reserved shares of all SCHED_DEADLINE threads would "
          "exceed what sched_rt_runtime_us leaves to real-time threads)";
      refused_setting.fix = "reserve less: lower the execution times or lengthen the periods";
      break;
    case EPERM:
      refused_setting.why +=
          " (not allowed to this user, or the thread is bound to fewer cores than its "
          "scheduling domain has)";
      refused_setting.fix =
          "run as root or add CAP_SYS_NICE, and do not bind the process to cores; an "
          "exclusive cpuset makes a domain of its own";
      break;
    case EINVAL:
      refused_setting.why +=
          " (the kernel wants 1 \u00b5s < runtime <= deadline <= period, and periods between "
          "sched_deadline_period_min_us and _max_us)";
      refused_setting.fix = "correct the execution time, deadline and period of the task";
      break;
    default:
      refused_setting.fix = "use the executor's own policies for this task";
  }
  return refused_setting;
}

}  // namespace takt::executor
