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
      release_entities();
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
    release_entities();
    const auto follow = [&] {
      if (life.has_left.exchange(false)) {
        release_entities();
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

// The base class waits for nothing while this one spins; but what its wait set has, no other
// executor may collect.
void SchedulingExecutor::release_entities() noexcept {
  try {
    const std::lock_guard lock{mutex_};
    wait_result_.reset();
    const auto none = [](const auto& /*entity*/) {};
    const rclcpp::SubscriptionWaitSetMask messages{true, false, false};  // as it adds them
    current_collection_.timers.update({}, none,
                                      [this](const auto& timer) { wait_set_.remove_timer(timer); });
    current_collection_.subscriptions.update({}, none, [this, messages](const auto& subscription) {
      wait_set_.remove_subscription(subscription, messages);
    });
    current_collection_.clients.update(
        {}, none, [this](const auto& client) { wait_set_.remove_client(client); });
    current_collection_.services.update(
        {}, none, [this](const auto& service) { wait_set_.remove_service(service); });
    current_collection_.guard_conditions.update(
        {}, none, [this](const auto& condition) { wait_set_.remove_guard_condition(condition); });
    current_collection_.waitables.update(
        {}, none, [this](const auto& waitable) { wait_set_.remove_waitable(waitable); });
    wait_set_.prune_deleted_entities();
  } catch (const std::exception& error) {
    RCLCPP_WARN(rclcpp::get_logger("takt"), "%s: what has left stays until the next spin()",
                error.what());
  }
}

// From its return on another executor may have what is removed, also where spin() is just
// beginning.
void SchedulingExecutor::release_while_spinning() noexcept {
  if (life_->spins.load()) {
    release_entities();
  }
}

// It has weak references to what was destroyed and not removed, whose code may be in a library that
// is unloaded.
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
  release_while_spinning();
  life_->entities_left([this] { return groups_now(); });
}

void SchedulingExecutor::add_callback_group(GroupPointer group, NodePointer node, bool notify) {
  life_->nodes.add(node);
  rclcpp::Executor::add_callback_group(group, node, notify);
  life_->entities_changed();
}

void SchedulingExecutor::remove_callback_group(GroupPointer group, bool notify) {
  rclcpp::Executor::remove_callback_group(group, notify);
  release_while_spinning();
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
