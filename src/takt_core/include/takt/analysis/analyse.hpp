// SPDX-License-Identifier: Apache-2.0
//
// The whole analysis of an application: what the executor would decide by is compiled, each
// scenario becomes demands on cores, each policy has its test. What is assumed and what each test
// is worth: docs/reference/analysis.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>

#include "takt/analysis/report.hpp"
#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

struct Options {
  bool sensitivity = true;
  bool proposals = true;  // priorities and cores, where deadlines are not guaranteed
  const std::atomic<bool>* stop = nullptr;  // set by another thread: ends with Interrupted
  // Of callbacks, for how many it is known how much longer they may compute: that takes the time.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

struct TAKT_CORE_PUBLIC Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

// Throws sched::ScheduleError for an application that an executor refuses, Interrupted as above.
TAKT_CORE_PUBLIC Report analyse(const application::Application& application,
                                const Options& options = {});

// Whether every deadline is guaranteed in every scenario by itself, without the rest. Throws as
// above.
TAKT_CORE_PUBLIC bool accepts(const application::Application& application);

}  // namespace takt::analysis
