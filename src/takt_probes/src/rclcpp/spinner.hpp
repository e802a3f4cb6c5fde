// SPDX-License-Identifier: Apache-2.0
//
// The executor that was asked for, spinning on a thread with the settings of a role; and how a
// callback hands what it saw to the probe's thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <rclcpp/executor.hpp>
#include <rclcpp/node.hpp>
#include <string>
#include <vector>

#include "takt/os/event.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/thread.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// Spins a node until it is destroyed. Throws what the executor throws.
class Spinner {
 public:
  /// The executor's threads run as `role` does. `node` and `stop` outlive it; a callback that
  /// throws requests the stop.
  Spinner(const Options& options, Role role, const rclcpp::Node::SharedPtr& node,
          os::StopFlag& stop);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  Spinner(Spinner&&) = delete;
  Spinner& operator=(Spinner&&) = delete;

  /// What ended it before its time.
  [[nodiscard]] std::optional<os::NotGranted> problem() const;

 private:
  std::unique_ptr<rclcpp::Executor> executor_;
  std::string failure_;  // written before ended_
  std::atomic<bool> ended_{false};
  std::optional<os::Thread> thread_;
};

/// From one callback to the probe's thread, in order. Callbacks of one group follow each other on
/// whatever thread; the probe's thread has their priority and is never far behind.
template <class Entry>
class Handover {
 public:
  explicit Handover(os::StopFlag& stop) : stop_{stop} { stop_.attach(event_); }
  ~Handover() { stop_.detach(event_); }
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;
  Handover(Handover&&) = delete;
  Handover& operator=(Handover&&) = delete;

  /// What finds no room is gone, as a message is that finds none in a history.
  void put(const Entry& entry) noexcept {
    const auto index = written_.load(std::memory_order_relaxed);
    if (index - taken_.load(std::memory_order_acquire) < entries_.size()) {
      entries_[index % entries_.size()] = entry;
      written_.store(index + 1, std::memory_order_release);
    }
    event_.notify();
  }

  /// Nothing at the deadline or when a stop is requested.
  std::optional<Entry> take(os::TimePoint deadline) noexcept {
    const auto index = taken_.load(std::memory_order_relaxed);
    while (written_.load(std::memory_order_acquire) == index) {
      if (stop_.requested() || !event_.wait_until(deadline)) {
        return {};
      }
    }
    const Entry entry = entries_[index % entries_.size()];
    taken_.store(index + 1, std::memory_order_release);
    return entry;
  }

 private:
  static constexpr std::size_t capacity = 16384;

  os::StopFlag& stop_;
  os::Event event_;
  std::vector<Entry> entries_ = std::vector<Entry>(capacity);
  std::atomic<std::size_t> written_{0};
  std::atomic<std::size_t> taken_{0};
};

}  // namespace takt::probe
