// SPDX-License-Identifier: Apache-2.0
#include "timed.hpp"

#include <unistd.h>

#include <algorithm>

#include "says.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/policies.hpp"

namespace takt_rclcpp::spin {

std::string Timed::cores() const {
  std::string text = options.scheduling.cpus.size() == 1 ? "core" : "cores";
  for (const int number : options.scheduling.cpus) {
    text += ' ' + std::to_string(number);
  }
  return text;
}

std::string Timed::in_words() const {
  const takt::sched::Policy& policy = *options.scheduling.policy;
  const bool one_thread = !policy.preemptive() && options.scheduling.cpus.size() == 1;
  return std::string{policy.name()} + ", " + cores() +
         (one_thread ? ", one callback at a time" : "");
}

void Timed::report_unmatched() const {
  if (!file.rule) {
    return;
  }
  for (const Unmatched& entry : unmatched_entries(file.rule, *met)) {
    report("unmatched", {entry.where, entry.problem});
  }
  report("read", {variable(timing_variable)});
}

Timed timed(std::size_t threads, std::size_t ordinal) {
  Timed result;
  if (const std::string path = variable(timing_variable); !path.empty()) {
    result.file = load_timing(path);
  }
  Options& options = result.options;
  options.nodes_come_later = true;
  std::vector<int> cpus = result.file.cpus;
  if (cpus.empty()) {
    cpus = takt::os::current_thread().cpus;
    if (!cpus.empty()) {  // processes of one robot begin on different cores
      const auto first = (static_cast<std::size_t>(::getpid()) + ordinal) % cpus.size();
      std::ranges::rotate(cpus, cpus.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }
  if (result.file.policy) {
    options.scheduling.policy = result.file.policy;
  } else if (threads == 1) {
    // The author's callbacks never ran side by side, nor one within another. They still do not.
    options.scheduling.policy = takt::sched::non_preemptive_fixed_priority();
    cpus.resize(std::min<std::size_t>(cpus.size(), 1));
  }
  options.scheduling.cpus = std::move(cpus);
  // One file is for all processes: an entry of another one's node is no fault here.
  if (result.file.rule) {
    options.timing = [rule = result.file.rule, met = result.met](const CallbackId& id) {
      met->push_back(id);
      return rule(id);
    };
  }
  return result;
}

}  // namespace takt_rclcpp::spin
