// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/conditions.hpp"

#include <algorithm>
#include <iterator>

#include "takt/os/memory.hpp"

namespace takt::probe {
namespace {

constexpr std::size_t prefaulted_stack_bytes = std::size_t{256} * 1024;

}  // namespace

std::vector<int> cpus_of(const Options& options, Role role) {
  if (role == Role::both || options.cpus.empty()) {
    return options.cpus;
  }
  const bool first = role == Role::ping || role == Role::publisher;
  return {first ? options.cpus.front() : options.cpus.back()};
}

os::ThreadSettings settings_of(const Options& options, Role role) {
  return {.policy = options.policy,
          .priority = options.priority,
          .cpus = cpus_of(options, role),
          .name = {}};
}

os::SettingsNotGranted enter_role(const Options& options, Role role) {
  os::SettingsNotGranted not_granted = os::apply(settings_of(options, role));
  if (options.real_time()) {
    std::ranges::move(os::prefault_stack(prefaulted_stack_bytes), std::back_inserter(not_granted));
  }
  return not_granted;
}

Granted read_back() {
  return {.thread = os::current_thread(),
          .timer_slack = os::timer_slack(),
          .rr_interval = os::rr_interval(),
          .threads = os::process_threads()};
}

}  // namespace takt::probe
