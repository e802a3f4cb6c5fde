// SPDX-License-Identifier: Apache-2.0
//
// An rclcpp::Executor that schedules each callback of unmodified nodes: by priority or deadline,
// preempted by the kernel, with Takt's executor below (takt/executor/executor.hpp).
//
//   rclcpp::init(argc, argv);
//   takt::rclcpp::SchedulingExecutor executor;
//   executor.set_timing(takt::rclcpp::load_timing("timing.yaml").rule);
//   executor.add_node(node);
//   executor.spin();
//
// spin() schedules; callbacks run on threads of the executor's. The other ways to spin (spin_some,
// spin_until_future_complete, ...) are the base class's, one callback after the other on the
// calling thread, without priorities.
//
// Mutually exclusive groups are resources under the stack resource policy. A callback never runs
// twice at once, also in a Reentrant group, which is told of when it is met. Clients, services that
// a node's author made, and waitables have threads of their own where the policy is one of fixed
// priorities: a callback that waits for an answer gets it, whatever the priorities.
#pragma once

#include <rclcpp/version.h>

#include <functional>
#include <memory>
#include <optional>
#include <rclcpp/contexts/default_context.hpp>
#include <rclcpp/executor.hpp>
#include <rclcpp/node_interfaces/node_base_interface.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/executor/executor.hpp"
#include "takt/executor/report.hpp"
#include "takt/rclcpp/timing.hpp"
#include "takt/rclcpp/visibility.hpp"

namespace takt::rclcpp {

using sched::SchedulingScenario;
using sched::SchedulingStrategy;

struct TAKT_RCLCPP_PUBLIC Options {
  // Signals are rclcpp's; exceptions leave spin(). What they say of the two is overruled. Without
  // `cpus`, all that the thread may use that makes the executor: each callback group stays on one
  // of them, the one with the fewest callbacks when it comes, as long as nobody says how long they
  // take. So callbacks of different groups run at the same time, whatever their priorities; on one
  // core they never do.
  executor::Options scheduling = {};
  TimingRule timing = {};  // none: every callback has the defaults below
  // Of callbacks that nothing else is said of. Housekeeping, services and QoS events: the lowest
  // priority, `long_deadline`, so that they raise no group's ceiling.
  int default_priority = 20;
  nanoseconds default_deadline = std::chrono::milliseconds{100};  // timers: their period
  nanoseconds long_deadline = std::chrono::seconds{1};
  // A callback that sleeps while others wait behind it is told of after this time.
  nanoseconds tell_waiting_after = std::chrono::seconds{1};
  // Entries of the timing file that match nothing are told of when no node has come for so long.
  nanoseconds tell_unmatched_after = std::chrono::seconds{5};
  // Nodes come when it spins, as a container's: nothing is told of entries before the first one.
  bool nodes_come_later = false;

  // What the program's command line says: --takt-timing FILE, --takt-record FILE; else what the
  // parameters takt_timing and takt_record say, given to any node of the process. Throws
  // sched::ScheduleError.
  [[nodiscard]] static Options of_command_line(
      const ::rclcpp::Context::SharedPtr& context =
          ::rclcpp::contexts::get_global_default_context());
};

class TAKT_RCLCPP_PUBLIC SchedulingExecutor : public ::rclcpp::Executor {
 public:
  RCLCPP_SMART_PTR_DEFINITIONS(SchedulingExecutor)

  explicit SchedulingExecutor(
      const ::rclcpp::ExecutorOptions& options = ::rclcpp::ExecutorOptions{});
  SchedulingExecutor(Options scheduling,
                     const ::rclcpp::ExecutorOptions& options = ::rclcpp::ExecutorOptions{});
  // Not while it spins.
  ~SchedulingExecutor() override;

  // Schedules until cancel(), or the context's end. Throws what leaves a callback, and
  // sched::ScheduleError for a timing that cannot be; std::runtime_error while it spins already.
  // Once callbacks run, a timing that does not fit what comes ends nothing: what has come of that
  // node is left out, a topic that is read has no subscription as long as the node has none; both
  // are warned of.
  void spin() override;

  // Ends the spin() that there is; jobs that run come to their end. Where there is none, the next
  // spin() ends as it begins, and only that one: whoever stops what another thread is about to
  // start need not know how far that is. What else spins (spin_some() and its like) ends as in any
  // executor. From any thread and callback.
  void cancel() override;

  // In place of Options::timing. Throws std::logic_error while it spins.
  void set_timing(TimingRule rule);
  // Scenarios to switch between. Names of tasks are those of CallbackId::text(); what is said of a
  // callback holds while it is there. While it spins the scenarios and their policies are settled:
  // only what they say of callbacks may be another thing, from the next decision on. Throws
  // sched::ScheduleError; std::logic_error for more than that while it spins.
  void set_scheduling_strategy(SchedulingStrategy strategy);
  // What the scenarios say of the callbacks of the node of this name, whether it is there already
  // or comes later: callbacks are named without it ("timer0", "subscription:/scan"), or in full.
  // The executor's own strategy says which scenarios there are, and with which it begins; where it
  // has none, all that nodes have are, and it begins with the default of the first node. Throws as
  // above, also where two contradict each other: a callback has one entry in a scenario, a scenario
  // one policy. The same scenario may be given to several.
  void set_scheduling_strategy(const ::rclcpp::node_interfaces::NodeBaseInterface& node,
                               SchedulingStrategy strategy);
  template <class Node>
  void set_scheduling_strategy(const std::shared_ptr<Node>& node, SchedulingStrategy strategy) {
    set_scheduling_strategy(*node->get_node_base_interface(), std::move(strategy));
  }
  void set_handlers(executor::Handlers handlers);

  // When remove_node() or remove_callback_group() returns, what was removed may be added to another
  // executor: no callback of it begins here any more. Afterwards: what this returns becomes true,
  // for good, when no callback of what was removed runs or will be run by this executor, so that
  // what they use may be destroyed. Removing alone does not wait for callbacks that run on other
  // threads. Both may be called from any thread, as long as the executor is there.
  [[nodiscard]] std::function<bool()> when_gone() const;

  // From any thread and callback.
  bool switch_to(std::string_view scenario) noexcept;
  [[nodiscard]] std::string_view scenario() const noexcept;
  // Throws std::out_of_range.
  [[nodiscard]] executor::TaskStatistics statistics(std::string_view callback) const;
  // Of all of them, and of the executor, as diagnostics tell it; of housekeeping and QoS events
  // those that have run. Nothing before the first spin(), and while one begins.
  [[nodiscard]] std::optional<executor::Snapshot> snapshot() const;
  // Of the callbacks that are scheduled now.
  [[nodiscard]] std::vector<std::string> callbacks() const;
  // Entries of the timing file and of strategies that no callback so far has matched. Each is told,
  // once, when no node has come for a while (Options::tell_unmatched_after), or at the end of
  // spin().
  [[nodiscard]] std::vector<Unmatched> unmatched() const;
  [[nodiscard]] const executor::Executor& core() const noexcept;

#if RCLCPP_VERSION_GTE(32, 0, 0)
  using NodePointer = const ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr&;
  using GroupPointer = const ::rclcpp::CallbackGroup::SharedPtr&;
#else
  using NodePointer = ::rclcpp::node_interfaces::NodeBaseInterface::SharedPtr;
  using GroupPointer = ::rclcpp::CallbackGroup::SharedPtr;
#endif
  using ::rclcpp::Executor::add_node;
  using ::rclcpp::Executor::remove_node;
  void add_node(NodePointer node, bool notify = true) override;
  void remove_node(NodePointer node, bool notify = true) override;
  void add_callback_group(GroupPointer group, NodePointer node, bool notify = true) override;
  void remove_callback_group(GroupPointer group, bool notify = true) override;

 private:
  class TAKT_RCLCPP_LOCAL Life;

  [[nodiscard]] std::vector<::rclcpp::CallbackGroup::WeakPtr> groups_now();

  std::unique_ptr<Life> life_;
};

}  // namespace takt::rclcpp
