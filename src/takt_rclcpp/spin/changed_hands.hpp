// SPDX-License-Identifier: Apache-2.0
//
// The nodes and groups of one executor of rclcpp, and Takt's executor that has them while spin()
// runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "takeover.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"
#include "timed.hpp"

namespace takt_rclcpp::spin {

// While it lives, calls of this thread go straight to the executor that they name.
class Passing {
 public:
  Passing() noexcept;
  ~Passing();
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;
  Passing(Passing&&) = delete;
  Passing& operator=(Passing&&) = delete;
  [[nodiscard]] static bool on() noexcept;

 private:
  bool before_;
};

/// An executor of Takt with its timing.
struct Together {
  Timed timed;
  std::shared_ptr<SchedulingExecutor> executor;
};

class ChangedHands {
 public:
  using Stock = Takeover::Stock;

  void add_node(const NodePointer& node, bool notify, const Stock& stock);
  void remove_node(const NodePointer& node, bool notify, const Stock& stock);
  void add_group(const GroupPointer& group, const NodePointer& node, bool notify,
                 const Stock& stock);
  void remove_group(const GroupPointer& group, bool notify, const Stock& stock);
  Groups groups(Takeover::AskGroups which, const std::function<Groups()>& stock);
  void cancel(const Stock& stock);

  /// Names of the nodes that are there, also of those whose groups were added.
  [[nodiscard]] std::vector<std::string> names();
  /// Of the nodes; null: there is none.
  [[nodiscard]] rclcpp::Context::SharedPtr context();

  /// Who has them; null: the stock executor.
  [[nodiscard]] std::shared_ptr<Together> other();
  /// Whether nothing was added so far.
  [[nodiscard]] bool is_new();
  /// All that is added goes to `other` at once, and stays there.
  void keep(std::shared_ptr<Together> other);

  /// Gives all to `other`. Returns why not: then `from` has all of them again.
  [[nodiscard]] std::optional<std::string> give(rclcpp::Executor& from,
                                                std::shared_ptr<Together> other);
  /// Gives all back.
  void take_back(rclcpp::Executor& from) noexcept;

  std::atomic<bool> spins{false};  ///< From before they are given until they are back.

 private:
  struct Member {
    NodePointer::weak_type node;
    GroupPointer::weak_type group;  // of a group that was added by itself
    bool is_group = false;          // it is one
  };
  [[nodiscard]] std::vector<std::pair<NodePointer, GroupPointer>> members();
  void forget(const NodePointer& node, const GroupPointer& group);

  std::shared_mutex hands_;  // exclusively: while they change
  std::mutex mutex_;         // of the two below
  std::vector<Member> members_;
  std::shared_ptr<Together> other_;
  bool is_new_ = true;
};

}  // namespace takt_rclcpp::spin
