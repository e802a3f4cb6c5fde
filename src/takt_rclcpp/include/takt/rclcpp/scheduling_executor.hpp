// SPDX-License-Identifier: Apache-2.0
/// @file
/// An rclcpp::Executor that schedules each callback of unmodified nodes: by priority or deadline,
/// preempted by the kernel. It is based on Takt's executor (takt/executor/executor.hpp).
///
/// ```cpp
/// rclcpp::init(argc, argv);
/// takt_rclcpp::SchedulingExecutor executor;
/// executor.set_timing(takt_rclcpp::load_timing("timing.yaml").rule);
/// executor.add_node(node);
/// executor.spin();
/// ```
///
/// spin() schedules; callbacks run on threads of the executor. The other ways to spin (spin_some,
/// spin_until_future_complete, ...) are those of the base class: one callback after the other on
/// the calling thread, without priorities.
///
/// Mutually exclusive groups are resources under the stack resource policy. In a Reentrant group a
/// subscription, service or timer runs on as many cores at once as the executor has, up to 8, as
/// under rclcpp's multi-threaded executors: its releases go in turn to its lanes, one task each,
/// named "callback", "callback#2" and so on. It runs once at a time on one core, under scenarios,
/// which is logged, and where its timing gives it a core or something to read. With a policy of
/// fixed priorities, clients, services that a node's author created, and waitables have threads of
/// their own: a callback that waits for a response gets it, whatever the priorities.
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
#include "takt/executor/monitor.hpp"
#include "takt/executor/report.hpp"
#include "takt/rclcpp/timing.hpp"
#include "takt/rclcpp/visibility.hpp"

namespace takt_rclcpp {

using takt::sched::SchedulingScenario;  ///< A named table of parameters with a policy.
using takt::sched::SchedulingStrategy;  ///< Scenarios to switch between.

/// What a SchedulingExecutor is created with.
struct TAKT_RCLCPP_PUBLIC Options {
  /// Policy, cores and more of the executor below. Its settings for signals and exceptions have no
  /// effect: signals are handled by rclcpp, exceptions leave spin().
  ///
  /// Without `cpus` the executor uses all cores that the thread which creates it may use. Each
  /// callback group stays on one of them: the one with the fewest callbacks when the group is
  /// found, as long as no execution times are declared. Callbacks of different groups therefore run
  /// in parallel, whatever their priorities; on one core they never do.
  takt::executor::Options scheduling = {};
  TimingRule timing = {};  ///< None: every callback has the defaults below.
  /// Priority (1..98) of callbacks for which the timing sets none. Housekeeping, services and QoS
  /// events have the lowest priority and `long_deadline` instead, so that they raise no group's
  /// ceiling.
  int default_priority = 20;
  /// Deadline of callbacks for which the timing sets none; that of timers is their period.
  nanoseconds default_deadline = std::chrono::milliseconds{100};
  nanoseconds long_deadline = std::chrono::seconds{1};  ///< See `default_priority`.
  /// A callback that sleeps while others wait behind it is reported after this time.
  nanoseconds report_waiting_after = std::chrono::seconds{1};
  /// Entries of the timing file that match nothing are reported when no node was added for so long.
  nanoseconds report_unmatched_after = std::chrono::seconds{5};
  /// Nodes are added while it spins, as in a component container: entries are not reported before
  /// the first node.
  bool nodes_come_later = false;

  /// The options that the program was started with: --takt-timing FILE and --takt-record FILE, or
  /// else the parameters takt_timing and takt_record of any node of the process.
  /// @param context has the parameters.
  /// @throws takt::sched::ScheduleError for a file that cannot be read or is wrong.
  [[nodiscard]] static Options of_command_line(
      const rclcpp::Context::SharedPtr& context = rclcpp::contexts::get_global_default_context());
};

/// The executor. Unless stated otherwise its functions may be called from any thread.
class TAKT_RCLCPP_PUBLIC SchedulingExecutor : public rclcpp::Executor {
 public:
  /// With Options::of_command_line().
  /// @param options of the base class.
  /// @throws takt::sched::ScheduleError for a timing file that cannot be read or is wrong.
  explicit SchedulingExecutor(const rclcpp::ExecutorOptions& options = rclcpp::ExecutorOptions{});

  /// @param scheduling policy, cores, timing.
  /// @param options of the base class.
  /// @throws takt::sched::ScheduleError for options that contradict each other.
  SchedulingExecutor(Options scheduling,
                     const rclcpp::ExecutorOptions& options = rclcpp::ExecutorOptions{});

  /// Not while it spins.
  ~SchedulingExecutor() override;

  /// Schedules until cancel() or the end of the context. As soon as callbacks run, a timing that
  /// does not fit a new node does not end it: the new callbacks of that node are left out, and a
  /// topic that is read has no subscription as long as the node has none. Both are logged as
  /// warnings.
  /// @throws takt::sched::ScheduleError for an impossible timing.
  /// @throws std::runtime_error if it spins already.
  /// @throws whatever leaves a callback.
  void spin() override;

  /// Ends the current spin(); running callbacks finish. If there is none, the next spin() returns
  /// at once, and only that one: it does not matter how far another thread is with starting it.
  /// spin_some() and its like end as in any executor. May be called from callbacks, too.
  void cancel() override;

  /// Replaces Options::timing.
  /// @throws std::logic_error while it spins.
  void set_timing(TimingRule rule);

  /// Sets the scenarios to switch between. Names of tasks are those of CallbackId::text(); an entry
  /// holds while its callback exists. While the executor spins, the set of scenarios and their
  /// policies are fixed: only the entries may change, from the next scheduling decision on.
  /// @throws takt::sched::ScheduleError for an impossible strategy.
  /// @throws std::logic_error for other scenarios or policies while it spins.
  void set_scheduling_strategy(SchedulingStrategy strategy);

  /// Sets the entries of one node's callbacks. Callbacks are named without their node ("timer0",
  /// "subscription:/scan") or in full. The strategy of the executor decides which scenarios exist
  /// and which one is the first; without it, the scenarios of all nodes exist, and the first one is
  /// the default of the first node. Several nodes may have the same scenario.
  /// @param node only its name counts: the entries also hold for a node that is added later.
  /// @param strategy the scenarios.
  /// @throws takt::sched::ScheduleError, std::logic_error as above; also for two entries of one
  /// callback in a scenario, or two policies of one scenario.
  void set_scheduling_strategy(const rclcpp::node_interfaces::NodeBaseInterface& node,
                               SchedulingStrategy strategy);

  /// The same for a pointer to an rclcpp::Node or rclcpp_lifecycle::LifecycleNode.
  template <class Node>
  void set_scheduling_strategy(const std::shared_ptr<Node>& node, SchedulingStrategy strategy) {
    set_scheduling_strategy(*node->get_node_base_interface(), std::move(strategy));
  }

  /// Sets the functions that are called for missed deadlines, overruns and the like.
  void set_handlers(takt::executor::Handlers handlers);

  /// Sets the limits to watch while it spins: responses, skipped releases, dropped messages, ages
  /// of what the timing says that a callback reads, latencies and ages of chains. Chains follow the
  /// messages that callbacks of this process pass through the middleware or, since ROS 2 Iron, by
  /// pointer (use_intra_process_comms). Callbacks are named as CallbackId::text()
  /// has it; they may come later (Limits::allow_absent_tasks). Handlers::limit_exceeded is called
  /// for each excess, and Diagnostics publishes all limits.
  /// @throws takt::sched::ScheduleError for limits that contradict each other.
  /// @throws std::logic_error while it spins.
  void set_limits(takt::executor::Limits limits);

  /// What was seen of each limit so far.
  [[nodiscard]] std::vector<takt::executor::LimitStatistics> limits() const;

  /// Tells when the entities of a removed node or group may be destroyed. When remove_node() or
  /// remove_callback_group() returns, no callback of it begins here any more, and it may be added
  /// to another executor; but callbacks that run on other threads may not have ended.
  /// @return a function that becomes true, for good, when no callback of anything that was removed
  /// before the call of when_gone() runs here. It may be called from any thread, as long as the
  /// executor exists.
  [[nodiscard]] std::function<bool()> when_gone() const;

  /// Switches to another scenario from the next scheduling decision on. May be called from
  /// callbacks, too; takes constant time.
  /// @return false if there is no such scenario; nothing changes then.
  bool switch_to(std::string_view scenario) noexcept;

  /// The name of the current scenario.
  [[nodiscard]] std::string_view scenario() const noexcept;

  /// The statistics of a callback.
  /// @param callback its name, as CallbackId::text() has it.
  /// @throws std::out_of_range for a callback that is not scheduled.
  [[nodiscard]] takt::executor::TaskStatistics statistics(std::string_view callback) const;

  /// The statistics of the executor and all its callbacks, as Diagnostics publishes them; of
  /// housekeeping and QoS events only those that have run.
  /// @return nothing before the first spin(), and while one begins.
  [[nodiscard]] std::optional<takt::executor::Snapshot> snapshot() const;

  /// The names of the callbacks that are scheduled now.
  [[nodiscard]] std::vector<std::string> callbacks() const;

  /// The entries of the timing file and of strategies that no callback has matched so far. Each is
  /// logged once: when no node was added for a while (Options::report_unmatched_after), or at the
  /// end of spin().
  [[nodiscard]] std::vector<Unmatched> unmatched() const;

  /// The executor below.
  [[nodiscard]] const takt::executor::Executor& core() const noexcept;

  /// SharedPtr, make_shared() and their like, as for rclcpp's executors.
  RCLCPP_SMART_PTR_DEFINITIONS(SchedulingExecutor)

#if RCLCPP_VERSION_GTE(32, 0, 0)
  /// As rclcpp 32 and later pass a node.
  using NodePointer = const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr&;
  /// As rclcpp 32 and later pass a group.
  using GroupPointer = const rclcpp::CallbackGroup::SharedPtr&;
#else
  /// As rclcpp passes a node.
  using NodePointer = rclcpp::node_interfaces::NodeBaseInterface::SharedPtr;
  /// As rclcpp passes a group.
  using GroupPointer = rclcpp::CallbackGroup::SharedPtr;
#endif
  using rclcpp::Executor::add_node;
  using rclcpp::Executor::remove_node;
  void add_node(NodePointer node, bool notify = true) override;
  void remove_node(NodePointer node, bool notify = true) override;
  void add_callback_group(GroupPointer group, NodePointer node, bool notify = true) override;
  void remove_callback_group(GroupPointer group, bool notify = true) override;

 private:
  class TAKT_RCLCPP_LOCAL Life;

  [[nodiscard]] std::vector<rclcpp::CallbackGroup::WeakPtr> groups_now();
  void release_entities() noexcept;
  void release_while_spinning() noexcept;
  void forget_destroyed();

  std::unique_ptr<Life> life_;
};

}  // namespace takt_rclcpp
