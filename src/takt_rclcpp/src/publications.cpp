// SPDX-License-Identifier: Apache-2.0
#include "publications.hpp"

#include <dlfcn.h>
#include <rcl/publisher.h>

#include <limits>
#include <mutex>
#include <utility>

#include "core_names.hpp"
#include "pointers.hpp"
#include "takt/executor/monitor.hpp"
#include "takt/os/clock.hpp"
#include "takt/trace/current.hpp"

namespace takt_rclcpp {
namespace {

// None is taken. Not an optional one: that is written as a flag and read as a whole, for which
// processors wait.
constexpr std::int64_t no_stamp = std::numeric_limits<std::int64_t>::min();

// initial-exec: each message reads and writes them, and does so without a call.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): what a thread is doing
[[gnu::tls_model("initial-exec")]] thread_local Publications* records_in = nullptr;
// Told as a pointer inside the process; the same message may follow through the middleware.
[[gnu::tls_model("initial-exec")]] thread_local const void* published_inside = nullptr;
// What it publishes; the middleware's stamp is told next.
[[gnu::tls_model("initial-exec")]] thread_local std::optional<Publications::Numbered> published;
[[gnu::tls_model("initial-exec")]] thread_local std::int64_t taken = no_stamp;
// Of what it hands over as a pointer, to the ring buffers of all readers.
[[gnu::tls_model("initial-exec")]] thread_local std::optional<std::int64_t> handed_over;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

[[gnu::noinline]] void record(const void* publisher) noexcept {
  const char* const topic =
      rcl_publisher_get_topic_name(static_cast<const rcl_publisher_t*>(publisher));
  if (topic != nullptr) {
    published = records_in->record(topic);
  }
}

template <class... Args>
using Tracepoint = void (*)(Args...);

template <class... Args>
Tracepoint<Args...> next(const char* name) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as dlsym() has it
  return reinterpret_cast<Tracepoint<Args...>>(dlsym(RTLD_NEXT, name));
}

// The calling thread has a message now, by a stamp or by a pointer.
void take(std::int64_t stamp) noexcept {
  taken = taken == no_stamp ? stamp : taken;  // not what its callback takes
  executor::use_message(stamp);
  if (records_in != nullptr) {
    records_in->use(stamp);
  }
}

// What the hooks of pointers do where somebody follows them. Where nobody does, which is each
// message without a trace or limits, the hooks do nothing but look.
[[gnu::noinline]] void hand_over(const void* publisher) noexcept {
  if (records_in != nullptr) {
    record(publisher);
  }
  if (!Pointers::followed()) {
    return;
  }
  handed_over = Pointers::next_stamp();
  executor::publish_message(*handed_over);
  if (published && records_in != nullptr) {
    records_in->stamped(*handed_over, *published);
  }
}
[[gnu::noinline]] void put(const void* buffer, std::uint64_t index) noexcept {
  Pointers::of_process().put({.buffer = buffer, .index = index}, handed_over);
}
[[gnu::noinline]] void take_from(const void* buffer, std::uint64_t index) noexcept {
  if (const auto stamp = Pointers::of_process().take({.buffer = buffer, .index = index})) {
    take(*stamp);
  }
}

// Stamps are readings of a clock: their last digits differ.
std::size_t place_of(std::int64_t stamp, std::size_t places) noexcept {
  constexpr std::uint64_t spread = 0x9E3779B97F4A7C15;  // of Fibonacci hashing
  constexpr unsigned high = 32;
  return (static_cast<std::uint64_t>(stamp) * spread >> high) % places;
}

}  // namespace

std::optional<Publications::Numbered> Publications::record(const char* topic) noexcept {
  Numbered entry;
  try {
    const std::lock_guard lock{mutex_};
    auto known = topics_.find(topic);
    if (known == topics_.end()) {
      known = topics_.emplace(topic, Numbered{.topic = core_.trace_topic(topic)}).first;
    }
    ++known->second.count;
    entry = known->second;
  } catch (...) {  // no memory for a name
    return {};
  }
  trace::record_in_job(trace::EventType::publish, os::now(), entry.topic, entry.count);
  return entry;
}

void Publications::stamped(std::int64_t stamp, Numbered message) noexcept {
  const std::lock_guard lock{mutex_};
  stamped_[place_of(stamp, remembered)] = {.stamp = stamp, .message = message};
}

void Publications::use(std::int64_t stamp) noexcept {
  Stamped found;
  {
    const std::lock_guard lock{mutex_};
    found = stamped_[place_of(stamp, remembered)];
  }
  if (found.stamp == stamp) {
    trace::record_in_job(trace::EventType::use, os::now(), found.message.topic,
                         found.message.count);
  }
}

void Publications::forget() noexcept {
  const std::lock_guard lock{mutex_};
  topics_.clear();
  stamped_.fill({});
}

std::optional<std::int64_t> stamp_taken() noexcept {
  const std::int64_t stamp = std::exchange(taken, no_stamp);
  return stamp == no_stamp ? std::nullopt : std::optional{stamp};
}

RecordsPublications::RecordsPublications(Publications* where) noexcept
    : outer_{std::exchange(records_in, where)} {
  published_inside = nullptr;
  published.reset();
  handed_over.reset();
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
  if (std::exchange(published_inside, nullptr) != publisher && records_in != nullptr) {
    record(publisher);
  }
  static const auto onward = next<const void*, const void*>("ros_trace_rcl_publish");
  if (onward != nullptr) {
    onward(publisher, message);
  }
}

__attribute__((visibility("default"))) void ros_trace_rclcpp_intra_publish(const void* publisher,
                                                                           const void* message) {
  using namespace takt_rclcpp;
  published_inside = publisher;
  if (records_in != nullptr || Pointers::followed()) {
    hand_over(publisher);
  }
  static const auto onward = next<const void*, const void*>("ros_trace_rclcpp_intra_publish");
  if (onward != nullptr) {
    onward(publisher, message);
  }
}

__attribute__((visibility("default"))) void ros_trace_rclcpp_ring_buffer_enqueue(
    const void* buffer, std::uint64_t index, std::uint64_t size, bool overwritten) {
  using namespace takt_rclcpp;
  if (Pointers::followed()) {
    put(buffer, index);
  }
  static const auto onward =
      next<const void*, std::uint64_t, std::uint64_t, bool>("ros_trace_rclcpp_ring_buffer_enqueue");
  if (onward != nullptr) {
    onward(buffer, index, size, overwritten);
  }
}

__attribute__((visibility("default"))) void ros_trace_rclcpp_ring_buffer_dequeue(
    const void* buffer, std::uint64_t index, std::uint64_t size) {
  using namespace takt_rclcpp;
  if (Pointers::followed()) {
    take_from(buffer, index);
  }
  static const auto onward =
      next<const void*, std::uint64_t, std::uint64_t>("ros_trace_rclcpp_ring_buffer_dequeue");
  if (onward != nullptr) {
    onward(buffer, index, size);
  }
}

__attribute__((visibility("default"))) void ros_trace_rmw_publish(const void* publisher,
                                                                  const void* message,
                                                                  std::int64_t stamp) {
  using namespace takt_rclcpp;
  executor::publish_message(stamp);
  if (const auto last = std::exchange(published, std::nullopt); last && records_in != nullptr) {
    records_in->stamped(stamp, *last);
  }
  static const auto onward = next<const void*, const void*, std::int64_t>("ros_trace_rmw_publish");
  if (onward != nullptr) {
    onward(publisher, message, stamp);
  }
}

__attribute__((visibility("default"))) void ros_trace_rmw_take(const void* subscription,
                                                               const void* message,
                                                               std::int64_t stamp, bool is_taken) {
  using namespace takt_rclcpp;
  if (is_taken) {
    take(stamp);
  }
  static const auto onward =
      next<const void*, const void*, std::int64_t, bool>("ros_trace_rmw_take");
  if (onward != nullptr) {
    onward(subscription, message, stamp, is_taken);
  }
}
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
