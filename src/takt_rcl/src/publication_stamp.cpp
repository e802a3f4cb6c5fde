// SPDX-License-Identifier: Apache-2.0
//
// What the middleware stamps on a message is known to its reader, but rcl_publish() does not return
// it. The middleware tells every publication to ROS 2's tracepoints, before it sends it and whether
// or not anybody traces. This one stands before the tracepoint and passes it on.
#include <dlfcn.h>

#include <cstdint>
#include <takt/executor/monitor.hpp>

extern "C" {

// NOLINTNEXTLINE(readability-identifier-naming): tracetools' name
__attribute__((visibility("default"))) void ros_trace_rmw_publish(const void* publisher,
                                                                  const void* message,
                                                                  std::int64_t stamp) {
  takt::executor::publish_message(stamp);
  using Tracepoint = void (*)(const void*, const void*, std::int64_t);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as dlsym() has it
  static const auto onward =
      reinterpret_cast<Tracepoint>(dlsym(RTLD_NEXT, "ros_trace_rmw_publish"));
  if (onward != nullptr) {
    onward(publisher, message, stamp);
  }
}

}  // extern "C"
