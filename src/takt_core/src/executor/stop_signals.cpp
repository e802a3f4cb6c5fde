// SPDX-License-Identifier: Apache-2.0
#include "stop_signals.hpp"

#include <csignal>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "takt/os/stop.hpp"

namespace takt::executor {
namespace {

// Of the process, as the handlers are.
struct Handling {
  std::mutex mutex;
  int users = 0;
  std::optional<os::StopFlag> flag;
  std::optional<os::StopOnSignal> handlers;
};

Handling& handling() {
  static Handling instance;
  return instance;
}

bool is_default(int signal) noexcept {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

}  // namespace

StopSignals::StopSignals(bool wanted, os::Event& event) {
  if (!wanted) {
    return;
  }
  Handling& all = handling();
  const std::lock_guard lock{all.mutex};
  if (all.users == 0) {
    if (!is_default(SIGINT) || !is_default(SIGTERM)) {
      return;
    }
    try {
      all.flag.emplace();
      all.handlers.emplace(*all.flag);
    } catch (const std::logic_error&) {  // somebody else of this process has them
      all.flag.reset();
      return;
    }
  }
  all.flag->attach(event);
  event_ = &event;
  ++all.users;
}

StopSignals::~StopSignals() {
  if (event_ == nullptr) {
    return;
  }
  Handling& all = handling();
  const std::lock_guard lock{all.mutex};
  if (--all.users == 0) {
    all.handlers.reset();
    all.flag.reset();
  } else {
    all.flag->detach(*event_);
  }
}

bool StopSignals::requested() const noexcept {
  return event_ != nullptr && handling().flag->requested();
}

}  // namespace takt::executor
