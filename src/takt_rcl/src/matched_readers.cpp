// SPDX-License-Identifier: Apache-2.0
#include "matched_readers.hpp"

#include <rcl/error_handling.h>

#include "rcl_error.hpp"

namespace takt::detail {

MatchedReaders::MatchedReaders(const rcl_publisher_t& publisher) noexcept
    : publisher_{publisher}, event_{rcl_get_zero_initialized_event()} {
  // Changes are counted after the middleware has counted the reader.
  const auto changed = [](const void* self, std::size_t) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): C hands back what it was given
    static_cast<MatchedReaders*>(const_cast<void*>(self))->changes_.fetch_add(1);
  };
  notified_ = rcl_publisher_event_init(&event_, &publisher_, RCL_PUBLISHER_MATCHED) == RCL_RET_OK &&
              rcl_event_set_callback(&event_, changed, this) == RCL_RET_OK;
  if (!notified_) {
    rcl_reset_error();  // a middleware without this event
  }
}

MatchedReaders::~MatchedReaders() {
  if (notified_) {
    log_failure(rcl_event_set_callback(&event_, nullptr, nullptr), "cannot clear a callback");
  }
  log_failure(rcl_event_fini(&event_), "cannot close an event");
}

std::optional<std::size_t> MatchedReaders::count() noexcept {
  if (!notified_) {
    return ask();
  }
  const std::uint32_t changes = changes_.load();
  const Known known = known_.load(std::memory_order_acquire);
  if (known.changes == changes) {
    return known.count;
  }
  // A change that comes while the middleware is asked is noticed the next time.
  const std::optional<std::size_t> count = ask();
  if (count) {
    known_.store({.changes = changes, .count = static_cast<std::uint32_t>(*count)});
  }
  return count;
}

std::optional<std::size_t> MatchedReaders::count_anew() noexcept {
  changes_.fetch_add(1);
  return count();
}

std::optional<std::size_t> MatchedReaders::ask() const noexcept {
  std::size_t count = 0;
  if (rcl_publisher_get_subscription_count(&publisher_, &count) != RCL_RET_OK) {
    rcl_reset_error();
    return {};
  }
  return count;
}

}  // namespace takt::detail
