// SPDX-License-Identifier: Apache-2.0
//
// Which middleware runs below rcl.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace takt::probe {

/// Asked at run time: which library has the function depends on how ROS 2 was installed.
inline std::map<std::string, std::string> rcl_versions() {
  using Identifier = const char* (*)();
  const auto identifier =
      reinterpret_cast<Identifier>(dlsym(RTLD_DEFAULT, "rmw_get_implementation_identifier"));
  return {{"rmw", identifier != nullptr ? identifier() : "unknown"}};
}

/// Whether it is a DDS; known before it is loaded.
inline bool speaks_rtps() {
  const char* const chosen = std::getenv("RMW_IMPLEMENTATION");
  return chosen == nullptr || std::string_view{chosen}.find("zenoh") == std::string_view::npos;
}

}  // namespace takt::probe
