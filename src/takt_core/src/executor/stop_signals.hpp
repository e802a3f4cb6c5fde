// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM end all spinning executors of the process in order, unless the program has
// handlers of its own.
#pragma once

#include "takt/os/event.hpp"

namespace takt::executor {

class StopSignals {
 public:
  // The signals notify `event` as long as this object exists.
  StopSignals(bool wanted, os::Event& event);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  StopSignals(StopSignals&&) = delete;
  StopSignals& operator=(StopSignals&&) = delete;

  [[nodiscard]] bool requested() const noexcept;

 private:
  os::Event* event_ = nullptr;  // null: the program handles the signals itself
};

}  // namespace takt::executor
