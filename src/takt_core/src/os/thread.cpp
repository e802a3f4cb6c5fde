// SPDX-License-Identifier: Apache-2.0
#include "takt/os/thread.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <exception>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "takt/os/child_cpus.hpp"
#include "takt/os/memory.hpp"

namespace takt::os {
namespace {

constexpr std::size_t max_name_bytes = 15;  // the kernel's TASK_COMM_LEN without the zero

constexpr std::array<std::pair<SchedulingPolicy, std::string_view>, 3> askable{{
    {SchedulingPolicy::other, "other"},
    {SchedulingPolicy::fifo, "fifo"},
    {SchedulingPolicy::rr, "rr"},
}};

std::string describe(const ThreadSettings& settings) {
  std::string text = "policy ";
  text += to_string(settings.policy);
  if (settings.policy != SchedulingPolicy::other) {
    text += " at priority " + std::to_string(settings.priority);
  }
  return text;
}

std::string priority_limit_text() {
  rlimit limit{};
  getrlimit(RLIMIT_RTPRIO, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur);
}

void apply_policy(pid_t tid, const ThreadSettings& settings, SettingsNotGranted& not_granted) {
  const bool real_time =
      settings.policy == SchedulingPolicy::fifo || settings.policy == SchedulingPolicy::rr;
  if (!real_time && settings.policy != SchedulingPolicy::other) {
    not_granted.push_back({.what = describe(settings),
                           .why = "this policy cannot be asked for",
                           .fix = "ask for other, fifo or rr"});
    return;
  }
  if (real_time && (settings.priority < min_priority || settings.priority > max_priority)) {
    not_granted.push_back({.what = describe(settings),
                           .why = "the priority is outside of " + std::to_string(min_priority) +
                                  ".." + std::to_string(max_priority),
                           .fix = "choose a priority in this range; 99 belongs to the kernel"});
    return;
  }
  if (!real_time && settings.priority != 0) {
    not_granted.push_back({.what = "priority " + std::to_string(settings.priority),
                           .why = "policy other has no priorities",
                           .fix = "ask for policy fifo or rr, or for priority 0"});
  }
  int policy = SCHED_OTHER;
  if (real_time) {
    policy = settings.policy == SchedulingPolicy::fifo ? SCHED_FIFO : SCHED_RR;
  }
  if (settings.reset_on_fork) {
    policy |= SCHED_RESET_ON_FORK;
  }
  const sched_param parameters{.sched_priority = real_time ? settings.priority : 0};
  if (sched_setscheduler(tid, policy, &parameters) != 0) {
    const int error = errno;
    NotGranted refused_setting{
        .what = describe(settings), .why = "sched_setscheduler: " + error_text(error), .fix = {}};
    if (error == EPERM) {
      refused_setting.why +=
          " (the limit for real-time priorities is " + priority_limit_text() + ")";
      refused_setting.fix =
          "run as root, or allow it for your user: the line '<user> - rtprio 98' in "
          "/etc/security/limits.d/realtime.conf, then log in again; in a container add "
          "--cap-add=SYS_NICE";
    } else {
      refused_setting.fix = "check that the kernel allows real-time scheduling in this cgroup";
    }
    not_granted.push_back(std::move(refused_setting));
  }
}

std::string list_text(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) {
    text += (text.empty() ? "" : ",") + std::to_string(cpu);
  }
  return text;
}

void apply_cpus(pid_t tid, const std::vector<int>& cpus, SettingsNotGranted& not_granted) {
  if (cpus.empty()) {
    return;
  }
  const std::string what = "CPU affinity " + list_text(cpus);
  const std::string fix =
      "choose CPUs that are online and allowed to this process (see nproc, "
      "taskset -p $$)";
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) {
      not_granted.push_back(
          {.what = what, .why = "there is no CPU " + std::to_string(cpu), .fix = fix});
      return;
    }
    CPU_SET(cpu, &set);
  }
  if (sched_setaffinity(tid, sizeof set, &set) != 0) {
    not_granted.push_back(
        {.what = what, .why = "sched_setaffinity: " + error_text(errno), .fix = fix});
    return;
  }
  // The kernel drops CPUs that are offline or outside of the cpuset without an error.
  const std::vector<int> given = thread_status(tid).value_or(ThreadStatus{}).cpus;
  if (CPU_COUNT(&set) != static_cast<int>(given.size())) {
    not_granted.push_back(
        {.what = what, .why = "the kernel gave only CPU " + list_text(given), .fix = fix});
  }
}

void apply_name(pthread_t thread, const std::string& name, SettingsNotGranted& not_granted) {
  if (name.empty()) {
    return;
  }
  const std::string kept = name.substr(0, max_name_bytes);
  pthread_setname_np(thread, kept.c_str());
  if (kept != name) {
    not_granted.push_back({.what = "thread name " + name,
                           .why = "the kernel keeps 15 bytes: " + kept,
                           .fix = "choose a shorter name"});
  }
}

SettingsNotGranted apply(pthread_t thread, pid_t tid, const ThreadSettings& settings) {
  SettingsNotGranted not_granted;
  apply_name(thread, settings.name, not_granted);
  apply_cpus(tid, settings.cpus, not_granted);
  apply_policy(tid, settings, not_granted);
  return not_granted;
}

}  // namespace

std::string_view to_string(SchedulingPolicy policy) noexcept {
  switch (policy) {
    case SchedulingPolicy::other:
      return "other";
    case SchedulingPolicy::fifo:
      return "fifo";
    case SchedulingPolicy::rr:
      return "rr";
    case SchedulingPolicy::batch:
      return "batch";
    case SchedulingPolicy::idle:
      return "idle";
    case SchedulingPolicy::deadline:
      return "deadline";
    case SchedulingPolicy::unknown:
      break;
  }
  return "unknown";
}

std::optional<SchedulingPolicy> parse_policy(std::string_view text) noexcept {
  for (const auto& [policy, name] : askable) {
    if (text == name) {
      return policy;
    }
  }
  return {};
}

SettingsNotGranted apply(const ThreadSettings& settings) {
  return apply(pthread_self(), gettid(), settings);
}

std::optional<NotGranted> set_timer_slack(std::chrono::nanoseconds slack) {
  // Zero would mean "the default" to the kernel, not "none".
  const auto wanted = slack.count() < 1 ? 1 : slack.count();
  if (prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(wanted), 0, 0, 0) != 0) {
    return NotGranted{.what = "timer slack of " + std::to_string(wanted) + " ns",
                      .why = "prctl(PR_SET_TIMERSLACK): " + error_text(errno),
                      .fix = "run at policy fifo or rr, which has no timer slack"};
  }
  return {};
}

std::chrono::nanoseconds timer_slack() noexcept {
  return std::chrono::nanoseconds{prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0)};
}

std::chrono::nanoseconds rr_interval() noexcept {
  timespec interval{};
  if (policy_of(0) != SchedulingPolicy::rr || sched_rr_get_interval(0, &interval) != 0) {
    return std::chrono::nanoseconds{0};
  }
  return std::chrono::seconds{interval.tv_sec} + std::chrono::nanoseconds{interval.tv_nsec};
}

namespace {

// What a new thread takes with it; it lives there.
struct Start {
  std::size_t prefaulted_stack;
  std::function<void()> body;
  std::future<bool> settled;  // whether it is to run at all
  std::promise<std::pair<pid_t, SettingsNotGranted>> began = {};
};

void* run(void* start) noexcept {
  const std::unique_ptr<Start> mine{static_cast<Start*>(start)};
  SettingsNotGranted not_granted;
  if (mine->prefaulted_stack != 0) {
    not_granted = prefault_stack(mine->prefaulted_stack);
  }
  mine->began.set_value({gettid(), std::move(not_granted)});
  if (mine->settled.get()) {
    mine->body();
  }
  return nullptr;
}

// A thread that starts others at policy other has this one start as it is itself: until its
// settings are applied, the creator waits for it.
void start_as_creator(pthread_attr_t& attributes) noexcept {
  const SchedulingPolicy own = policy_of(0);
  sched_param parameters{};
  if ((own != SchedulingPolicy::fifo && own != SchedulingPolicy::rr) ||
      sched_getparam(0, &parameters) != 0) {
    return;
  }
  pthread_attr_setschedpolicy(&attributes, own == SchedulingPolicy::fifo ? SCHED_FIFO : SCHED_RR);
  pthread_attr_setschedparam(&attributes, &parameters);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
}

// The least that the system allows, in whole pages.
std::size_t possible_stack(std::size_t wanted) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto least = static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN));
  return (std::max(wanted, least) + page - 1) / page * page;
}

}  // namespace

Thread::Thread(const ThreadSettings& settings, std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (settings.stack != 0) {
    pthread_attr_setstacksize(&attributes, possible_stack(settings.stack));
  }
  std::promise<bool> settled;
  auto start = std::make_unique<Start>(Start{.prefaulted_stack = settings.prefaulted_stack,
                                             .body = std::move(body),
                                             .settled = settled.get_future()});
  auto began = start->began.get_future();
  start_as_creator(attributes);
  int error = pthread_create(&thread_, &attributes, run, start.get());
  if (error == EPERM) {  // the right to such a priority is gone meanwhile
    pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED);
    error = pthread_create(&thread_, &attributes, run, start.get());
  }
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    throw std::system_error{error, std::generic_category(), "cannot start a thread"};
  }
  // NOLINTNEXTLINE(bugprone-unused-return-value): the thread's own now
  static_cast<void>(start.release());
  joinable_ = true;
  std::tie(tid_, not_granted_) = began.get();
  // From outside: by itself the thread might have to wait for others on its CPU before it has all
  // of its settings.
  try {
    ThreadSettings wanted = settings;
    if (wanted.cpus.empty()) {
      wanted.cpus = ChildCpus::of_this_thread();
    }
    const SettingsNotGranted more = apply(thread_, tid_, wanted);
    not_granted_.insert(not_granted_.end(), more.begin(), more.end());
  } catch (...) {
    settled.set_value(false);
    join();
    throw;
  }
  settled.set_value(true);
}

Thread::~Thread() {
  if (joinable_) {
    join();
  }
}

void Thread::join() noexcept {
  pthread_join(thread_, nullptr);
  joinable_ = false;
}

clockid_t Thread::cpu_clock() const noexcept {
  clockid_t clock{};
  pthread_getcpuclockid(thread_, &clock);
  return clock;
}

void run_without_priority(const std::function<void()>& work) noexcept {
  const SchedulingPolicy policy = policy_of(0);
  if (policy != SchedulingPolicy::fifo && policy != SchedulingPolicy::rr &&
      policy != SchedulingPolicy::deadline) {
    work();
    return;
  }
  try {
    Thread{{}, work}.join();
  } catch (const std::exception&) {  // no thread, no memory for one
    work();
  }
}

}  // namespace takt::os
