// SPDX-License-Identifier: Apache-2.0
#include "takt/rclcpp/scheduling_executor.hpp"

#include <rclcpp/executors/executor_notify_waitable.hpp>
#include <rclcpp/logging.hpp>
#include <rclcpp/utilities.hpp>
#include <stdexcept>
#include <utility>

#include "core_names.hpp"
#include "life.hpp"
#include "pointers.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"

namespace takt_rclcpp {
namespace {

template <class Act>
class AtEnd {
 public:
  explicit AtEnd(Act act) : act_{std::move(act)} {}
  ~AtEnd() { act_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  AtEnd(AtEnd&&) = delete;
  AtEnd& operator=(AtEnd&&) = delete;

 private:
  Act act_;
};

}  // namespace

SchedulingExecutor::SchedulingExecutor(const rclcpp::ExecutorOptions& options)
    : SchedulingExecutor{Options::of_command_line(options.context), options} {}

SchedulingExecutor::SchedulingExecutor(Options scheduling, const rclcpp::ExecutorOptions& options)
    : rclcpp::Executor{options}, life_{std::make_unique<Life>(std::move(scheduling))} {}

SchedulingExecutor::~SchedulingExecutor() = default;

void SchedulingExecutor::spin() {
  Life& life = *life_;
  const bool spins_already = life.spins.exchange(true);  // cancel() is for this one from here on
  if (spinning.exchange(true)) {
    life.spins.store(spins_already);
    throw std::runtime_error{"spin() called while already spinning"};
  }
  const AtEnd no_longer{[&] {
    life.cancelled.store(false);
    // What the base class has collected is of before.
    entities_need_rebuild_.store(true);
    if (life.has_left.exchange(false)) {
      collect_quietly();
    }
    spinning.store(false);
    life.spins.store(false);
  }};
  if (life.cancelled.load()) {
    RCLCPP_INFO(rclcpp::get_logger("takt"), "spin() ends at once: cancel() was called before it");
    return;
  }
  const auto goes_on = [&] {
    return rclcpp::ok(context_) && !life.cancelled.load() && spinning.load();
  };
  {
    // Nodes and groups that change, cancel() and the end of the context: all of them ring it.
    notify_waitable_->set_on_ready_callback([this, goes_on](std::size_t /*count*/, int /*part*/) {
      if (!goes_on()) {
        life_->stop_soon();
      }
      life_->bell->ring();
    });
    const AtEnd unheard{[&] { notify_waitable_->clear_on_ready_callback(); }};
    const Life::Groups groups = [this] { return groups_now(); };
    const AtEnd ended{[&] { life.end(groups); }};
    life.begin();
    const auto follow = [&] {
      if (life.has_left.exchange(false)) {
        collect_quietly();
      }
      life.follow(groups);
      forget_destroyed();
    };
    // What authors wrote starts at once, the rest when that runs.
    follow();
    if (goes_on()) {
      life.start();
      follow();
    }
    while (goes_on() && !life.bell->failed()) {
      life.bell->wait_until(os::add_sat(os::now(), life.options.report_waiting_after));
      follow();
      life.look_around();
    }
  }
  if (const std::exception_ptr error = life.bell->take_error()) {
    std::rethrow_exception(error);
  }
}

void SchedulingExecutor::cancel() {
  if (life_->spins.load() || !spinning.load()) {  // else the base class spins, and ends with it
    life_->cancelled.store(true);
  }
  rclcpp::Executor::cancel();
}

// The base class refers to entities that have left until it collects again: to those that were
// there before spin(), and to those of its last collection.
void SchedulingExecutor::collect_quietly() noexcept {
  try {
    const std::lock_guard lock{mutex_};
    collect_entities();
  } catch (const std::exception& error) {
    RCLCPP_WARN(rclcpp::get_logger("takt"), "%s: what has left stays until the next spin()",
                error.what());
  }
}

// Also to those that were destroyed and not removed, by weak references, whose code may be in a
// library that is unloaded.
void SchedulingExecutor::forget_destroyed() {
  const std::lock_guard lock{mutex_};
  if (current_collection_.remove_expired_entities() != 0) {
    wait_result_.reset();
    wait_set_.prune_deleted_entities();
  }
}

std::vector<rclcpp::CallbackGroup::WeakPtr> SchedulingExecutor::groups_now() {
  collector_.update_collections();
  return collector_.get_all_callback_groups();
}

// They are looked at again, whether or not the base class is to notify itself: its hook for that is
// not in all versions.
void SchedulingExecutor::add_node(NodePointer node, bool notify) {
  life_->nodes.add(node);  // before anybody looks at what it has
  rclcpp::Executor::add_node(node, notify);
  life_->entities_changed();
}

void SchedulingExecutor::remove_node(NodePointer node, bool notify) {
  rclcpp::Executor::remove_node(node, notify);
  life_->entities_left([this] { return groups_now(); });
}

void SchedulingExecutor::add_callback_group(GroupPointer group, NodePointer node, bool notify) {
  life_->nodes.add(node);
  rclcpp::Executor::add_callback_group(group, node, notify);
  life_->entities_changed();
}

void SchedulingExecutor::remove_callback_group(GroupPointer group, bool notify) {
  rclcpp::Executor::remove_callback_group(group, notify);
  life_->entities_left([this] { return groups_now(); });
}

void SchedulingExecutor::set_timing(TimingRule rule) {
  life_->set_rule(std::move(rule));
}

void SchedulingExecutor::set_scheduling_strategy(SchedulingStrategy strategy) {
  life_->set_strategy("", std::move(strategy));
}

void SchedulingExecutor::set_scheduling_strategy(
    const rclcpp::node_interfaces::NodeBaseInterface& node, SchedulingStrategy strategy) {
  life_->set_strategy(node.get_fully_qualified_name(), std::move(strategy));
}

void SchedulingExecutor::set_handlers(executor::Handlers handlers) {
  life_->set_handlers(std::move(handlers));
}

void SchedulingExecutor::set_limits(executor::Limits limits) {
  limits.allow_absent_tasks = true;  // nodes come and go
  Pointers::follow();
  life_->core.set_limits(limits);
}

std::vector<executor::LimitStatistics> SchedulingExecutor::limits() const {
  return life_->core.limits();
}

std::function<bool()> SchedulingExecutor::when_gone() const {
  const auto gone_at = std::make_shared<Life::Departure>(life_->departure());
  return [life = life_.get(), gone_at] { return life->has_happened(*gone_at); };
}

bool SchedulingExecutor::switch_to(std::string_view scenario) noexcept {
  return life_->core.switch_to(scenario);
}

std::string_view SchedulingExecutor::scenario() const noexcept {
  return life_->core.scenario();
}

executor::TaskStatistics SchedulingExecutor::statistics(std::string_view callback) const {
  const auto index = life_->core.find(callback);
  if (!index) {
    throw std::out_of_range{"the executor has no callback '" + std::string{callback} + "'"};
  }
  return life_->core.statistics(*index);
}

std::optional<executor::Snapshot> SchedulingExecutor::snapshot() const {
  return life_->snapshot();
}

std::vector<std::string> SchedulingExecutor::callbacks() const {
  const std::lock_guard lock{life_->mutex};
  std::vector<std::string> names;
  if (life_->tasks) {
    for (const auto& [key, task] : life_->tasks->present()) {
      task.each_name([&](const std::string& name) { names.push_back(name); });
    }
  }
  return names;
}

std::vector<Unmatched> SchedulingExecutor::unmatched() const {
  return life_->unmatched();
}

const executor::Executor& SchedulingExecutor::core() const noexcept {
  return life_->core;
}

}  // namespace takt_rclcpp
