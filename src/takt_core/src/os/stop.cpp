// SPDX-License-Identifier: Apache-2.0
#include "takt/os/stop.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <stdexcept>
#include <system_error>

namespace takt::os {
namespace {

// A signal handler reaches nothing but globals.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<StopFlag*> signalled_flag{nullptr};
std::atomic<pid_t> signalled_process{0};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<StopFlag*>::is_always_lock_free);

extern "C" void takt_on_stop_signal(int /*signal*/) {
  if (StopFlag* flag = signalled_flag.load()) {
    flag->request();
  }
}

}  // namespace

void StopFlag::request() noexcept {
  word_.store(1);
  futex_wake(word_, INT_MAX);
  for (const auto& slot : events_) {
    if (Event* event = slot.load()) {
      event->notify();
    }
  }
}

void StopFlag::wait() const noexcept {
  while (!requested()) {
    futex_wait(word_, 0);
  }
}

bool StopFlag::wait_until(TimePoint deadline) const noexcept {
  while (!requested()) {
    if (futex_wait_until(word_, 0, deadline) == FutexResult::timed_out) {
      break;
    }
  }
  return requested();
}

void StopFlag::attach(Event& event) {
  for (auto& slot : events_) {
    Event* expected = nullptr;
    if (slot.compare_exchange_strong(expected, &event)) {
      if (word_.load() != 0) {  // request() may have passed the slot before it was filled
        event.notify();
      }
      return;
    }
  }
  throw std::length_error{"StopFlag::attach: more events than StopFlag::max_events"};
}

void StopFlag::detach(Event& event) noexcept {
  for (auto& slot : events_) {
    Event* expected = &event;
    slot.compare_exchange_strong(expected, nullptr);
  }
}

StopOnSignal::StopOnSignal(StopFlag& flag, std::initializer_list<int> signals) {
  former_.reserve(signals.size());
  // After a fork the flag of the parent is none of ours.
  if (signalled_process.exchange(getpid()) != getpid()) {
    signalled_flag.store(nullptr);
  }
  StopFlag* none = nullptr;
  if (!signalled_flag.compare_exchange_strong(none, &flag)) {
    throw std::logic_error{"StopOnSignal: another one is active in this process"};
  }
  struct sigaction action {};
  action.sa_handler = takt_on_stop_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) {
    Former former{.signal = signal, .action = {}};
    if (sigaction(signal, &action, &former.action) != 0) {
      const int error = errno;
      restore();
      throw std::system_error{error, std::generic_category(),
                              "StopOnSignal: sigaction for signal " + std::to_string(signal)};
    }
    former_.push_back(former);
  }
}

StopOnSignal::~StopOnSignal() {
  restore();
}

void StopOnSignal::restore() noexcept {
  for (const Former& former : former_) {
    sigaction(former.signal, &former.action, nullptr);
  }
  signalled_flag.store(nullptr);
}

std::optional<NotGranted> end_with_parent(int signal, std::optional<pid_t> parent) {
  const pid_t before = getppid();
  if (prctl(PR_SET_PDEATHSIG, signal) != 0) {
    return NotGranted{.what = "end with the parent process",
                      .why = "prctl(PR_SET_PDEATHSIG): " + error_text(errno),
                      .fix = "end this process by hand if its parent dies"};
  }
  if (getppid() != parent.value_or(before)) {
    raise(signal);
  }
  return {};
}

}  // namespace takt::os
