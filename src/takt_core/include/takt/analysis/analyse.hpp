// SPDX-License-Identifier: Apache-2.0
//
// The whole analysis of an application: what the executor would decide by is compiled, each
// scenario becomes demands on cores, each policy has its test. What is assumed and what each test
// is worth: docs/reference/analysis.md.
#pragma once

#include "takt/analysis/report.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

struct Options {
  bool sensitivity = true;
  bool proposals = true;  // priorities and cores, where deadlines are not guaranteed
};

// Throws sched::ScheduleError for an application that an executor refuses.
Report analyse(const application::Application& application, const Options& options = {});

// Whether every deadline is guaranteed in every scenario by itself, without the rest. Throws as
// above.
bool accepts(const application::Application& application);

}  // namespace takt::analysis
