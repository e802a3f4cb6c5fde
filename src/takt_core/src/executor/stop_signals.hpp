// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM end all executors of the process that spin, in order; unless the program has
// handlers of its own.
#pragma once

#include "takt/os/event.hpp"

namespace takt::executor {

class StopSignals {
 public:
  // While it lives, the signals notify `event`.
  StopSignals(bool wanted, os::Event& event);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  StopSignals(StopSignals&&) = delete;
  StopSignals& operator=(StopSignals&&) = delete;

  [[nodiscard]] bool requested() const noexcept;

 private:
  os::Event* event_ = nullptr;  // null: the program sees to them itself
};

}  // namespace takt::executor
