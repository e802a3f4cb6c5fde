// SPDX-License-Identifier: Apache-2.0
//
// Work that lasts, and ends within moments of a Ctrl-C: a thread does it, and the one of Python
// looks for signals meanwhile.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>
#include <utility>

#include "takt/analysis/demand.hpp"

namespace takt {

// What `work` returns, without Python's lock. `meanwhile` is called with it every tenth of a
// second; whatever it throws ends the work, too.
template <class Work, class Meanwhile>
auto interruptible(const Work& work, const Meanwhile& meanwhile) {
  std::atomic<bool> stop = false;
  const nanobind::gil_scoped_release release;
  auto result = std::async(std::launch::async, [&] {
    const analysis::Interruptible until{&stop};
    return work(stop);
  });
  try {
    while (result.wait_for(std::chrono::milliseconds{100}) != std::future_status::ready) {
      const nanobind::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() != 0) {
        throw nanobind::python_error{};
      }
      meanwhile();
    }
  } catch (...) {
    stop = true;
    result.wait();
    throw;
  }
  return result.get();
}

}  // namespace takt
