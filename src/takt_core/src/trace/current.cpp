// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/current.hpp"

#include <utility>

namespace takt::trace {
namespace {

// initial-exec: each job reads and writes them, and does so without a call.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model("initial-exec")]] thread_local Recorder* current_recorder = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t current_task = no_task;
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t current_job = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

CurrentJob::CurrentJob(Recorder& recorder, std::uint32_t task, std::uint64_t job) noexcept
    : outer_recorder_(std::exchange(current_recorder, &recorder)),
      outer_task_(std::exchange(current_task, task)),
      outer_job_(std::exchange(current_job, job)) {}

CurrentJob::~CurrentJob() {
  current_recorder = outer_recorder_;
  current_task = outer_task_;
  current_job = outer_job_;
}

std::uint32_t task_of_current_job() noexcept {
  return current_task;
}

void record_in_job(EventType type, os::TimePoint time, std::uint16_t topic,
                   std::int64_t value) noexcept {
  if (current_recorder != nullptr && current_recorder->on()) {
    current_recorder->record(type, time, current_task, current_job, value, topic);
  }
}

}  // namespace takt::trace
