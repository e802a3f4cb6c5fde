// SPDX-License-Identifier: Apache-2.0
/// @file
/// The complete analysis of an application: the application is compiled as for an executor, each
/// scenario becomes demands on cores, and each policy has its test. Assumptions and the strength of
/// each test: docs/reference/analysis.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>

#include "takt/analysis/report.hpp"
#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

/// What to analyse besides the bounds.
struct Options {
  bool sensitivity = true;  ///< How much longer callbacks may compute; takes most of the time.
  /// Priorities and cores that would guarantee the deadlines, if the description does not.
  bool proposals = true;
  /// Set by another thread to end the analysis with Interrupted; may be null.
  const std::atomic<bool>* stop = nullptr;

  /// Reports for how many callbacks the sensitivity is known, on the analysing thread.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// The analysis was ended by Options::stop.
struct TAKT_CORE_PUBLIC Interrupted : std::exception {
  /// @return "interrupted".
  [[nodiscard]] const char* what() const noexcept override;
};

/// Analyses an application. Thread-safe; takes milliseconds to minutes.
/// @throws sched::ScheduleError for an application that an executor refuses.
/// @throws Interrupted after Options::stop was set.
TAKT_CORE_PUBLIC Report analyse(const application::Application& application,
                                const Options& options = {});

/// Whether every deadline is guaranteed in every scenario on its own, without chains, ages and
/// switches. Stops at the first that is not.
/// @throws sched::ScheduleError for an application that an executor refuses.
TAKT_CORE_PUBLIC bool accepts(const application::Application& application);

}  // namespace takt::analysis
