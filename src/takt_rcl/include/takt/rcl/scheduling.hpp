// SPDX-License-Identifier: Apache-2.0
/// @file
/// The scheduling names that a program with a SchedulingExecutor uses, in the namespace takt. They
/// come from takt_core; the headers named below describe them.
#pragma once

#include <takt/executor/executor.hpp>
#include <takt/sched/error.hpp>
#include <takt/sched/policies.hpp>
#include <takt/sched/scenario.hpp>
#include <takt/sched/strategy.hpp>
#include <takt/sched/task.hpp>

namespace takt {

// sched/task.hpp, sched/job.hpp, sched/error.hpp
using sched::Job;
using sched::Overrun;
using sched::ScheduleError;
using sched::TaskIndex;

// sched/policies.hpp
using sched::custom;
using sched::CustomOptions;
using sched::cw_edf;
using sched::deadline_monotonic;
using sched::edf;
using sched::fixed_priority;
using sched::non_preemptive_edf;
using sched::non_preemptive_fixed_priority;
using sched::parse_policy;
using sched::PolicyPtr;
using sched::precautious_rm;
using sched::rate_monotonic;

// sched/scenario.hpp, sched/strategy.hpp
using sched::SchedulingScenario;
using sched::SchedulingStrategy;
using sched::TaskChange;

// executor/options.hpp, executor/changes.hpp, executor/counters.hpp, executor/monitor.hpp
using executor::AgeViolation;
using executor::BudgetOverrun;
using executor::Change;
using executor::Exceptions;
using executor::LimitExceeded;
using executor::Limits;
using executor::LimitStatistics;
using executor::Miss;
using executor::Quantity;
using executor::Skip;
using executor::TaskStatistics;
/// How a SchedulingExecutor schedules and reports.
using ExecutorOptions = executor::Options;

}  // namespace takt
