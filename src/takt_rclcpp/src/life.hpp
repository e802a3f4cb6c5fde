// SPDX-License-Identifier: Apache-2.0
//
// What a SchedulingExecutor has beyond its base class: the executor below, and what it knows of the
// nodes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "core_names.hpp"
#include "entities.hpp"
#include "publications.hpp"
#include "strategies.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"
#include "tasks.hpp"

namespace takt_rclcpp {

class SchedulingExecutor::Life {
 public:
  explicit Life(Options options);
  ~Life();
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  Life(Life&&) = delete;
  Life& operator=(Life&&) = delete;

  // All of them from the thread that spins.
  void begin();
  // What authors wrote comes first, and once it is started the rest follows, at the lowest
  // priority.
  // `groups` is asked by one thread at a time.
  using Groups = std::function<std::vector<rclcpp::CallbackGroup::WeakPtr>()>;
  void follow(const Groups& groups);
  void start();
  // From any thread and callback: nodes or groups have come or gone.
  void entities_changed();
  // The same, when something has been taken away: from its return on another executor may have it,
  // and where nothing runs, nothing refers to it any more.
  void entities_left(const Groups& groups);
  // From any thread and callback: no job begins any more. Callbacks may keep the thread that spins
  // from its core.
  void stop_soon() noexcept;
  // Waits for the jobs that run.
  void end(const Groups& groups) noexcept;
  void set_handlers(executor::Handlers handlers);
  // That all which has been removed until now is gone, with its last jobs. From any thread.
  struct Departure {
    std::uint64_t spin = 0;
    std::uint64_t looks = 0;
    bool happened = false;
  };
  [[nodiscard]] Departure departure() const;
  [[nodiscard]] bool has_happened(Departure& departure) const;

  // Tells of callbacks that sleep while others wait behind them, once for each; and once a second
  // looks for what the middleware did not tell of.
  void look_around();

  // The callbacks are met anew. Not while it spins.
  void set_rule(TimingRule other);
  // The same; while it spins only what scenarios say of callbacks may be another thing. `node`: its
  // full name; empty: of the executor.
  void set_strategy(const std::string& node, SchedulingStrategy strategy);

  // From any thread.
  [[nodiscard]] std::optional<executor::Snapshot> snapshot() const;

  // Entries of the timing file and the strategies.
  [[nodiscard]] std::vector<Unmatched> unmatched() const;

  Options options;
  executor::Executor core;
  Nodes nodes;
  Publications publications;
  const std::shared_ptr<Bell> bell;
  TimingRule rule;  // written as tasks and strategies are
  std::atomic<bool> spins{false};
  std::atomic<bool> is_started{false};
  std::atomic<bool> has_left{false};   // something, since the base class collected
  std::atomic<bool> cancelled{false};  // the spin() that is there, or the next one
  // Whoever changes tasks or strategies has the first one, also while functions of users are
  // called, which may ask back and change more; and both for the moment in which what is asked for
  // is written. Whoever asks has the second one, under which nobody else's functions are called.
  executor::RecursivePriorityMutex changing;
  mutable executor::PriorityMutex mutex;
  Strategies strategies;
  std::unique_ptr<Tasks> tasks;
  std::set<std::string> reported;
  std::set<std::string> reported_timing;

 private:
  [[nodiscard]] Tasks::Needs needs(const Strategies& of) const;
  void forget_tasks();
  // Not while it runs, with the lock of changes: nothing refers any more to what has gone.
  void forget_gone(const Groups& groups);
  void report_memory();
  void report_reentrant();
  void report_remarks();
  void report_hold_up();
  void report_unmatched();
  // Whether nodes of which the timing file may speak are there.
  [[nodiscard]] bool nodes_have_come() const;

  // The first one that nobody has looked at; from the thread of a callback.
  executor::HoldUp hold_up_;
  enum class Letter : std::uint8_t { none, being_written, there, read };
  std::atomic<Letter> hold_up_is_{Letter::none};

  os::SettingsNotGranted memory_;  // not told yet
  bool has_started_ = false;       // the core, with these tasks; under the mutex
  bool runs_ = false;              // from begin() to the end of all jobs; under the lock of changes
  os::TimePoint last_look_{};
  os::TimePoint begun_at_{};        // of the last spin()
  std::size_t nodes_at_begin_ = 0;  // how many had come before

  // How often it has begun to spin, and followed what came and went; under the mutex.
  std::uint64_t spins_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace takt_rclcpp
