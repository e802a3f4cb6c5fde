// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/dds_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "option_rules.hpp"
#include "takt/probe/conditions.hpp"

namespace takt::probe {
namespace {

// Names as the kernel keeps them, 15 bytes: Fast DDS, Cyclone DDS, RustDDS. Not Fast DDS's sender
// dds.asyn: above its dds.ev it waits busily, for ever, for a lock that this one holds.
constexpr std::array<std::string_view, 8> carriers{
    "dds.udp.", "dds.tcp.", "dds.shm.", "dds.dsha.", "recv", "dq.user", "xmit.", "RustDDS Partici"};
constexpr std::string_view watchdog_of_shm = "dds.shm.wdog";
constexpr std::string_view own = "takt.";

std::string list_of(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) {
    text.append(text.empty() ? "" : ",").append(std::to_string(cpu));
  }
  return text;
}

}  // namespace

bool carries_messages(std::string_view name) noexcept {
  return name != watchdog_of_shm && std::ranges::any_of(carriers, [name](std::string_view prefix) {
           return name.starts_with(prefix);
         });
}

DdsThreads::DdsThreads(const Options& options) : options_{options} {
  if (options_.dds_priority) {
    for (const os::ThreadStatus& thread : os::process_threads()) {
      before_.push_back(thread.tid);
    }
  }
}

void DdsThreads::enforce() {
  if (!options_.dds_priority) {
    return;
  }
  const std::scoped_lock lock{mutex_};
  const os::ThreadStatus starter = os::current_thread();
  for (os::ThreadStatus& thread : os::process_threads()) {
    const bool known = std::ranges::any_of(
        met_, [&](const DdsThread& one) { return one.status.tid == thread.tid; });
    if (known || !is_dds(thread)) {
      continue;
    }
    const int asked = asked_of(thread.name);
    std::string_view set_by = starter.policy == options_.policy && asked == options_.priority
                                  ? "inherited"
                                  : "configuration";
    if (thread.policy != options_.policy || thread.priority != asked) {
      set_by = "probe";
      const sched_param parameters{.sched_priority = asked};
      const int policy = options_.policy == os::SchedulingPolicy::rr ? SCHED_RR : SCHED_FIFO;
      if (sched_setscheduler(thread.tid, policy, &parameters) != 0 && errno != ESRCH) {
        refused_ = "sched_setscheduler: " + os::error_text(errno);
      }
    }
    met_.push_back({.status = std::move(thread), .asked = asked, .set_by = set_by});
  }
}

std::vector<DdsThread> DdsThreads::found(const std::vector<os::ThreadStatus>& now) const {
  std::vector<DdsThread> all;
  if (!options_.dds_priority) {
    return all;
  }
  for (const os::ThreadStatus& thread : now) {
    if (is_dds(thread)) {
      const auto met = std::ranges::find_if(
          met_, [&](const DdsThread& one) { return one.status.tid == thread.tid; });
      all.push_back({.status = thread,
                     .asked = asked_of(thread.name),
                     .set_by = met == met_.end() ? "later" : met->set_by});
    }
  }
  return all;
}

os::SettingsNotGranted DdsThreads::not_granted(const std::vector<DdsThread>& found) const {
  if (!options_.dds_priority) {
    return {};
  }
  const std::string what = "DDS threads at " + std::string{to_string(options_.policy)} + " " +
                           to_text(*options_.dds_priority);
  if (found.empty()) {
    return {{.what = what,
             .why = "the middleware has started no thread of its own",
             .fix = "leave --dds-priority away"}};
  }
  const std::vector<int> cpus = cpus_of(options_, options_.role);
  std::vector<std::string> others;
  std::vector<std::string> elsewhere;
  for (const DdsThread& one : found) {
    if (one.status.policy != options_.policy || one.status.priority != one.asked) {
      others.push_back(one.status.name + " " + std::string{to_string(one.status.policy)} + " " +
                       std::to_string(one.status.priority) + " instead of " +
                       std::to_string(one.asked));
    }
    if (!cpus.empty() && one.status.cpus != cpus) {
      elsewhere.push_back(one.status.name + " on CPU " + list_of(one.status.cpus));
    }
  }
  os::SettingsNotGranted notes;
  if (!others.empty()) {
    notes.push_back({.what = what,
                     .why = (refused_.empty() ? "" : refused_ + ": ") + listed(others),
                     .fix = refused_.empty()
                                ? "threads that come later than the first message "
                                  "inherit: ask for one priority, that of the loop"
                                : "run as root, or allow it for your user: '<user> - "
                                  "rtprio 98' in /etc/security/limits.d/realtime.conf"});
  }
  if (!elsewhere.empty()) {
    notes.push_back({.what = "DDS threads on CPU " + list_of(cpus),
                     .why = listed(elsewhere),
                     .fix = "look at the middleware's configuration of threads"});
  }
  return notes;
}

bool DdsThreads::is_dds(const os::ThreadStatus& thread) const noexcept {
  return !thread.name.starts_with(own) && std::ranges::find(before_, thread.tid) == before_.end();
}

int DdsThreads::asked_of(std::string_view name) const noexcept {
  return carries_messages(name) ? options_.dds_priority->most : options_.dds_priority->least;
}

}  // namespace takt::probe
