// SPDX-License-Identifier: Apache-2.0
#include "takt/os/child_cpus.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace takt::os {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
thread_local bool confined = false;

// Of the process.
struct State {
  std::mutex mutex;
  std::size_t living = 0;
  std::atomic<bool> set{false};
  cpu_set_t cpus{};  // written while it is not set
};

State& state() noexcept {
  static State of_process;
  return of_process;
}

// In the new process, on its only thread.
void free_child() noexcept {
  if (confined && state().set.load()) {
    sched_setaffinity(0, sizeof(cpu_set_t), &state().cpus);
  }
}

// The default of threads that are started without attributes: from `before` (null: their creator's
// CPUs) to `after`. What somebody else has chosen stays.
void change_default(const cpu_set_t* before, const cpu_set_t* after) noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) {
    return;
  }
  cpu_set_t present;
  CPU_ZERO(&present);
  pthread_attr_getaffinity_np(&attributes, sizeof present, &present);
  const bool is_before = before == nullptr ? CPU_COUNT(&present) == CPU_SETSIZE  // none is chosen
                                           : CPU_EQUAL(&present, before) != 0;
  // A size of 0 is "none is chosen", with any set (a null set is refused by the header's
  // attributes).
  const std::size_t size = after == nullptr ? 0 : sizeof *after;
  if (is_before &&
      pthread_attr_setaffinity_np(&attributes, size, after == nullptr ? &present : after) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

ChildCpus::ChildCpus() {
  static const int registered = pthread_atfork(nullptr, nullptr, free_child);
  static_cast<void>(registered);
  State& all = state();
  const std::lock_guard lock{all.mutex};
  if (all.living++ == 0 && sched_getaffinity(0, sizeof all.cpus, &all.cpus) == 0) {
    all.set.store(true);
    change_default(nullptr, &all.cpus);
  }
}

ChildCpus::~ChildCpus() {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  if (--all.living == 0 && all.set.exchange(false)) {
    change_default(&all.cpus, nullptr);
  }
}

void ChildCpus::confine_this_thread() noexcept {
  confined = true;
}

std::vector<int> ChildCpus::of_this_thread() {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  std::vector<int> cpus;
  for (int cpu = 0; confined && all.set.load() && cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all.cpus)) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

}  // namespace takt::os
