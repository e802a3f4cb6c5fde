// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/watchdog.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <future>

namespace takt::probe {

Watchdog::Watchdog(const Options& options, os::StopFlag& stop, std::function<int()> last_words)
    : stop_{stop}, limit_{os::now() + options.time_limit}, last_words_{std::move(last_words)} {
  stop_.attach(wake_);
  std::promise<void> risen;
  thread_.emplace(os::ThreadSettings{.cpus = {}, .name = "takt.watchdog"},
                  [this, &options, &risen] {
                    rise_above(options);
                    risen.set_value();
                    watch();
                  });
  risen.get_future().wait();
}

Watchdog::~Watchdog() {
  done_ = true;
  wake_.notify();
  thread_->join();
  stop_.detach(wake_);
}

void Watchdog::rise_above(const Options& options) {
  if (!options.real_time()) {
    return;
  }
  // os::apply leaves 99 to the kernel, but a loop at 98 needs a watchdog above it, which runs only
  // when the process is to end.
  const sched_param parameters{.sched_priority = options.priority + 1};
  if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0) {
    not_granted_.push_back(
        {.what = "watchdog at priority " + std::to_string(parameters.sched_priority),
         .why = "sched_setscheduler: " + os::error_text(errno),
         .fix = "allow one priority above the loop's: '<user> - rtprio 99' in "
                "/etc/security/limits.d/realtime.conf, then log in again"});
  }
}

void Watchdog::watch() {
  while (!done_ && !stop_.requested() && os::now() < limit_) {
    wake_.wait_until(limit_);
  }
  if (!done_ && !stop_.requested()) {
    reached_ = true;
    stop_.request();
  }
  const auto end = os::now() + grace;
  while (!done_ && os::now() < end) {
    wake_.wait_until(end);
  }
  if (!done_) {
    _exit(last_words_());
  }
}

}  // namespace takt::probe
