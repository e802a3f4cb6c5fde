// SPDX-License-Identifier: Apache-2.0
//
// A timer task of Takt's own executor: the only task, on the probe's core, at the probe's priority.
// Its callback runs on a thread of the executor and hands its times to the probe's thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "takt/executor/executor.hpp"
#include "takt/os/event.hpp"
#include "takt/os/stop.hpp"
#include "takt/probe/options.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {

class ExecutorTimer : public Timer {
 public:
  ExecutorTimer(const Options& options, os::StopFlag& stop);
  ~ExecutorTimer() override;
  ExecutorTimer(const ExecutorTimer&) = delete;
  ExecutorTimer& operator=(const ExecutorTimer&) = delete;

  std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept override;
  std::optional<Expiry> wait(os::TimePoint deadline) noexcept override;
  void stop() noexcept override;
  std::optional<os::NotGranted> problem() const override;

 private:
  struct Call {
    std::uint64_t job = 0;
    os::TimePoint called{};
  };
  // Calls that the probe's thread has not taken yet. It has the same priority and CPU as the
  // executor's thread and is never far behind; more than this would be counted as passed over.
  static constexpr std::size_t capacity = 4096;

  void called(std::uint64_t job) noexcept;

  const Options& options_;
  os::StopFlag& stop_;
  os::Event event_;
  std::array<Call, capacity> calls_;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::uint64_t next_job_ = 0;
  std::string failure_;
  std::unique_ptr<executor::Executor> executor_;
};

}  // namespace takt::probe
