// SPDX-License-Identifier: Apache-2.0
//
// What an executor tells the user of: what nobody would see otherwise.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <rclcpp/logging.hpp>
#include <utility>

#include "core_names.hpp"
#include "life.hpp"

namespace takt_rclcpp {
namespace {

// Whether the thread of this process sleeps, as the kernel says.
bool sleeps(int thread) {
  std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/stat"};
  std::string text;
  std::getline(file, text);
  const std::size_t end_of_name = text.rfind(')');
  return end_of_name != std::string::npos && end_of_name + 2 < text.size() &&
         (text[end_of_name + 2] == 'S' || text[end_of_name + 2] == 'D');
}

}  // namespace

void SchedulingExecutor::Life::report_memory() {
  const os::SettingsNotGranted not_granted = std::exchange(memory_, {});
  if (not_granted.empty()) {
    return;
  }
  if (options.scheduling.on_not_granted) {
    options.scheduling.on_not_granted(not_granted);
    return;
  }
  for (const os::NotGranted& refused_setting : not_granted) {
    RCLCPP_WARN(rclcpp::get_logger("takt"), "not granted: %s: %s; %s", refused_setting.what.c_str(),
                refused_setting.why.c_str(), refused_setting.fix.c_str());
  }
}

// rclcpp's multi-threaded executors run one callback of such a group twice at once.
void SchedulingExecutor::Life::report_reentrant() {
  const std::vector<std::shared_ptr<const Group>> met = nodes.take_reentrant();
  if (needs(strategies).lanes && options.scheduling.cpus.size() > 1) {
    return;  // here, too
  }
  for (const std::shared_ptr<const Group>& group : met) {
    RCLCPP_INFO(
        rclcpp::get_logger("takt"),
        "callback group %zu of node '%s' is Reentrant: its callbacks exclude no others, but "
        "none of them runs twice at once: this executor has one core, or scenarios",
        group->ordinal, group->node.c_str());
  }
}

bool SchedulingExecutor::Life::nodes_have_come() const {
  return !options.nodes_come_later || nodes.arrived().count > nodes_at_begin_;
}

std::vector<Unmatched> SchedulingExecutor::Life::unmatched() const {
  const std::lock_guard lock{mutex};
  std::vector<CallbackId> there;
  std::set<std::string> names;
  if (tasks) {
    for (const auto& [key, task] : tasks->present()) {
      if (task.housekeeping != nullptr) {
        continue;  // no entry speaks of it
      }
      there.push_back(task.source->id());
      if (!there.back().housekeeping) {
        names.insert(task.name);
      }
    }
  }
  std::vector<Unmatched> found = unmatched_entries(rule, there);
  std::ranges::move(strategies.unmatched(names), std::back_inserter(found));
  return found;
}

void SchedulingExecutor::Life::report_remarks() {
  for (const std::string& remark : tasks->take_remarks()) {
    RCLCPP_WARN(rclcpp::get_logger("takt"), "%s", remark.c_str());
  }
}

void SchedulingExecutor::Life::report_hold_up() {
  if (hold_up_is_.load() != Letter::there) {
    return;
  }
  const executor::HoldUp hold_up = hold_up_;
  hold_up_is_.store(Letter::read);
  const auto name_of = [this](executor::TaskIndex index) {
    const auto found = std::ranges::find_if(tasks->present(), [&](const auto& entry) {
      bool is_one = false;
      entry.second.each_name(
          [&](const std::string& name) { is_one = is_one || core.find(name) == index; });
      return is_one;
    });
    return found == tasks->present().end() ? std::string{} : found->second.name;
  };
  const std::string by = name_of(hold_up.by);
  const std::string task = name_of(hold_up.task);
  if (by.empty() || task.empty() || !reported.insert(by).second) {
    return;
  }
  RCLCPP_WARN(
      rclcpp::get_logger("takt"),
      "callback '%s' slept for %.1f ms inside, and '%s' missed its deadline behind it: they "
      "share a core. Say 'waits: true' of '%s' in the timing file (fixed priorities): then "
      "it has a thread of its own, and others run meanwhile",
      by.c_str(), static_cast<double>(hold_up.slept.count()) * 1e-6, task.c_str(), by.c_str());
}

// Nodes may make what is read later than who reads it.
void SchedulingExecutor::Life::report_unmatched() {
  for (const auto& [key, task] : tasks->present()) {
    for (const std::string& problem : task.not_read) {
      if (reported_timing.insert(problem).second) {
        RCLCPP_WARN(rclcpp::get_logger("takt"), "%s", problem.c_str());
      }
    }
  }
  for (const Unmatched& entry : unmatched()) {
    if (reported_timing.insert(entry.where).second) {
      RCLCPP_WARN(rclcpp::get_logger("takt"), "%s: %s (%s)", entry.where.c_str(),
                  entry.problem.c_str(), entry.fix.c_str());
    }
  }
}

void SchedulingExecutor::Life::look_around() {
  const os::TimePoint now = os::now();
  const std::lock_guard lock{changing};
  report_hold_up();
  if (now - last_look_ >= std::chrono::seconds{1}) {
    last_look_ = now;
    Letter read = Letter::read;  // the next one, at most one a second
    hold_up_is_.compare_exchange_strong(read, Letter::none);
    tasks->look_again();
    const os::TimePoint quiet_since = std::max(nodes.arrived().last, begun_at_);
    if (nodes_have_come() && now - quiet_since >= options.report_unmatched_after) {
      report_unmatched();
    }
  }
  for (auto& [key, task] : tasks->present()) {
    const Running& running = task.source->running();
    const std::uint64_t count = running.count.load();
    if (count != std::exchange(task.looked_at, count)) {
      task.runs_since = now;
    }
    const nanoseconds waits = now - task.runs_since;
    if (count % 2 == 0 || waits < options.report_waiting_after || reported.contains(task.name) ||
        task.source->describe().waits || !sleeps(running.thread.load())) {
      continue;
    }
    reported.insert(task.name);
    RCLCPP_WARN(rclcpp::get_logger("takt"),
                "callback '%s' has been waiting inside for %.1f s, and callbacks of the same or "
                "lower priority on its core wait with it. If it waits for one of them, it waits "
                "for ever. Say 'waits: true' of it in the timing file (fixed priorities): then it "
                "has a thread of its own",
                task.name.c_str(), static_cast<double>(waits.count()) * 1e-9);
  }
}

}  // namespace takt_rclcpp
