// SPDX-License-Identifier: Apache-2.0
#include "publications.hpp"

#include <dlfcn.h>
#include <rcl/publisher.h>

#include <mutex>
#include <utility>

#include "core_names.hpp"
#include "takt/os/clock.hpp"
#include "takt/trace/current.hpp"

namespace takt_rclcpp {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what a thread is doing
thread_local Publications* records_in = nullptr;
// Told as a pointer inside the process; the same message may follow through the middleware.
thread_local const void* told_inside = nullptr;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void record(const void* publisher) noexcept {
  if (records_in == nullptr) {
    return;
  }
  const char* const topic =
      rcl_publisher_get_topic_name(static_cast<const rcl_publisher_t*>(publisher));
  if (topic != nullptr) {
    records_in->record(topic);
  }
}

using Tracepoint = void (*)(const void*, const void*);

Tracepoint next(const char* name) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as dlsym() has it
  return reinterpret_cast<Tracepoint>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void Publications::record(const char* topic) noexcept {
  Topic entry;
  try {
    const std::lock_guard lock{mutex_};
    auto known = topics_.find(topic);
    if (known == topics_.end()) {
      known = topics_.emplace(topic, Topic{.number = core_.trace_topic(topic)}).first;
    }
    ++known->second.count;
    entry = known->second;
  } catch (...) {  // no memory for a name
    return;
  }
  trace::record_in_job(trace::EventType::publish, os::now(), entry.number, entry.count);
}

void Publications::forget() noexcept {
  const std::lock_guard lock{mutex_};
  topics_.clear();
}

RecordsPublications::RecordsPublications(Publications* where) noexcept
    : outer_{std::exchange(records_in, where)} {
  told_inside = nullptr;
}

RecordsPublications::~RecordsPublications() {
  records_in = outer_;
}

}  // namespace takt_rclcpp

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): tracetools' names
__attribute__((visibility("default"))) void ros_trace_rcl_publish(const void* publisher,
                                                                  const void* message) {
  using namespace takt_rclcpp;
  if (std::exchange(told_inside, nullptr) != publisher) {
    record(publisher);
  }
  static const Tracepoint onward = next("ros_trace_rcl_publish");
  if (onward != nullptr) {
    onward(publisher, message);
  }
}

__attribute__((visibility("default"))) void ros_trace_rclcpp_intra_publish(const void* publisher,
                                                                           const void* message) {
  using namespace takt_rclcpp;
  record(publisher);
  told_inside = publisher;
  static const Tracepoint onward = next("ros_trace_rclcpp_intra_publish");
  if (onward != nullptr) {
    onward(publisher, message);
  }
}
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
