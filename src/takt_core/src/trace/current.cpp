// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/current.hpp"

#include <utility>

namespace takt::trace {
namespace {

// initial-exec: each job reads and writes it, and does so without a call.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
[[gnu::tls_model("initial-exec")]] thread_local const CurrentJob* current = nullptr;

}  // namespace

CurrentJob::CurrentJob(Recorder& recorder, std::uint32_t task, std::uint64_t job) noexcept
    : recorder_{recorder}, task_{task}, job_{job}, outer_{std::exchange(current, this)} {}

CurrentJob::~CurrentJob() {
  current = outer_;
}

std::uint32_t task_of_current_job() noexcept {
  return current == nullptr ? no_task : current->task_;
}

void record_in_job(EventType type, os::TimePoint time, std::uint16_t topic,
                   std::int64_t value) noexcept {
  if (current != nullptr && current->recorder_.on()) {
    current->recorder_.record(type, time, current->task_, current->job_, value, topic);
  }
}

}  // namespace takt::trace
