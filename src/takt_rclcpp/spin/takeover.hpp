// SPDX-License-Identifier: Apache-2.0
//
// The seam between the library that is preloaded into any program, which needs nothing of ROS 2
// where nobody spins, and the one that it opens in a process where rclcpp's executors are used.
#pragma once

#include <rclcpp/version.h>

#include <cstddef>
#include <functional>
#include <rclcpp/executor.hpp>
#include <vector>

namespace takt_rclcpp {

#if RCLCPP_VERSION_GTE(32, 0, 0)
using NodeArgument = const rclcpp::node_interfaces::NodeBaseInterface::SharedPtr&;
using GroupArgument = const rclcpp::CallbackGroup::SharedPtr&;
#else
using NodeArgument = rclcpp::node_interfaces::NodeBaseInterface::SharedPtr;
using GroupArgument = rclcpp::CallbackGroup::SharedPtr;
#endif
using NodePointer = rclcpp::node_interfaces::NodeBaseInterface::SharedPtr;
using GroupPointer = rclcpp::CallbackGroup::SharedPtr;
using Groups = std::vector<rclcpp::CallbackGroup::WeakPtr>;

/// What happens at a call of an executor of rclcpp. `stock` calls rclcpp's own function.
class Takeover {
 public:
  using Stock = std::function<void()>;

  Takeover() = default;
  virtual ~Takeover() = default;
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;
  Takeover(Takeover&&) = delete;
  Takeover& operator=(Takeover&&) = delete;

  struct Spin {
    const char* executor = "";  ///< Name of its class in rclcpp.
    std::size_t threads = 1;    ///< Of the stock executor.
    /// Null: an exception leaves spin().
    const std::function<void(const std::exception&)>* handler = nullptr;
  };
  virtual void spin(rclcpp::Executor& executor, const Spin& how, const Stock& stock) = 0;
  /// The calling thread runs callbacks of a stock executor until `stock` returns.
  virtual void run(rclcpp::Executor& executor, const char* name, const Stock& stock) = 0;

  virtual void add_node(rclcpp::Executor& executor, const NodePointer& node, bool notify,
                        const Stock& stock) = 0;
  virtual void remove_node(rclcpp::Executor& executor, const NodePointer& node, bool notify,
                           const Stock& stock) = 0;
  virtual void add_group(rclcpp::Executor& executor, const GroupPointer& group,
                         const NodePointer& node, bool notify, const Stock& stock) = 0;
  virtual void remove_group(rclcpp::Executor& executor, const GroupPointer& group, bool notify,
                            const Stock& stock) = 0;
  using AskGroups = Groups (rclcpp::Executor::*)();
  virtual Groups groups(rclcpp::Executor& executor, AskGroups which,
                        const std::function<Groups()>& stock) = 0;
  virtual void cancel(rclcpp::Executor& executor, const Stock& stock) = 0;
  /// Another function that runs callbacks; `act` calls that of the executor that has the nodes.
  /// Unless `function` is null, it is said once that it stays rclcpp's own.
  virtual void poll(rclcpp::Executor& executor, const char* function,
                    const std::function<void(rclcpp::Executor&)>& act, const Stock& stock) = 0;
  /// `function` of this executor is rclcpp's own, also under Takt's executor; said once.
  virtual void stays(const rclcpp::Executor& executor, const char* function) = 0;
  virtual void forget(const rclcpp::Executor& executor) = 0;
};

}  // namespace takt_rclcpp
