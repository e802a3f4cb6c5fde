// SPDX-License-Identifier: Apache-2.0
//
// The functions that rcl, rmw and rclcpp call at every event, before those of the tracetools that
// they were linked with; these are called, too, so that LTTng beside it records what it would.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recorder.hpp"
#include "tracetools/tracetools.h"  // holds that the parameters are those of this distribution

namespace takt_record {

namespace {

// NOLINTBEGIN(cppcoreguidelines-macro-usage): one list is read in three ways
enum class Event : std::uint8_t {
#define TAKT_EVENT(name, kinds, parameters, arguments) name,
#include "events.def"
#undef TAKT_EVENT
};

constexpr std::size_t gid_bytes = 16;  // RMW_GID_STORAGE_SIZE

void put(Arguments& all, const void* address) noexcept {
  all.add(reinterpret_cast<std::uintptr_t>(address));
}
void put(Arguments& all, const char* text) noexcept {
  all.add_text(text);
}
void put(Arguments& all, const std::uint8_t* gid) noexcept {
  all.add_bytes(gid, gid_bytes);
}
void put(Arguments& all, std::int64_t number) noexcept {
  all.add(static_cast<std::uint64_t>(number));
}
void put(Arguments& all, std::uint64_t number) noexcept {
  all.add(number);
}
void put(Arguments& all, bool truth) noexcept {
  all.add(truth ? 1 : 0);
}

constexpr Kind kind_of(Event event) noexcept {
  switch (event) {
    case Event::callback_start:
      return Kind::begin;
    case Event::callback_end:
      return Kind::end;
    case Event::rmw_send_request:
      return Kind::clock;
    case Event::rmw_take_response:
      return Kind::response;
    case Event::rclcpp_publish:
    case Event::rclcpp_intra_publish:
    case Event::rcl_publish:
    case Event::rmw_publish:
    case Event::rmw_take:
    case Event::rcl_take:
    case Event::rclcpp_take:
    case Event::rmw_take_request:
    case Event::rmw_send_response:
    case Event::rclcpp_executor_wait_for_work:
    case Event::rclcpp_executor_execute:
    case Event::rclcpp_ring_buffer_enqueue:
    case Event::rclcpp_ring_buffer_dequeue:
    case Event::rclcpp_ring_buffer_clear:
      return Kind::event;
    default:
      return Kind::name;
  }
}

template <typename... Given>
void record_all(Event event, Given... given) noexcept {
  Arguments all;
  (put(all, given), ...);
  record(static_cast<std::uint16_t>(event), all, kind_of(event));
}

template <typename Function>
struct Chained;

// Calls the function of the next library with the same parameters.
template <typename... Given>
struct Chained<void(Given...)> {
  static void call(Next& next, Given... given) noexcept {
    if (void* const function = next.find(); function != nullptr) {
      reinterpret_cast<void (*)(Given...)>(function)(given...);
    }
  }
};

}  // namespace

std::string_view event_names() {
  return
#define TAKT_EVENT(name, kinds, parameters, arguments) #name " " kinds "\n"
#include "events.def"
#undef TAKT_EVENT
      ;
}

}  // namespace takt_record

// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments come with theirs
#define TAKT_REMOVE_PARENTHESES(...) __VA_ARGS__
#define TAKT_EVENT(name, kinds, parameters, arguments)                                    \
  extern "C" __attribute__((visibility("default"))) void ros_trace_##name parameters {    \
    takt_record::record_all(takt_record::Event::name, TAKT_REMOVE_PARENTHESES arguments); \
    static takt_record::Next next{"ros_trace_" #name};                                    \
    takt_record::Chained<void parameters>::call(next, TAKT_REMOVE_PARENTHESES arguments); \
  }                                                                                       \
  extern "C" __attribute__((visibility("default"))) bool ros_trace_enabled_##name() {     \
    return true;                                                                          \
  }                                                                                       \
  extern "C" __attribute__((visibility("default"))) void ros_trace_do_##name parameters { \
    ros_trace_##name arguments;                                                           \
  }
#include "events.def"
#undef TAKT_EVENT
// NOLINTEND(bugprone-macro-parentheses)
// NOLINTEND(cppcoreguidelines-macro-usage)
