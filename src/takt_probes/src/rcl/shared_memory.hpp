// SPDX-License-Identifier: Apache-2.0
//
// Whether shared memory carried the messages of this process. Fast DDS says nothing where it has no
// room in /dev/shm: it sends the same over UDP.
#pragma once

#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "rcl_versions.hpp"
#include "takt/os/not_granted.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

inline constexpr const char* free_shared_memory =
    "free space in /dev/shm (df /dev/shm; ./takt clean), or measure udp";

/// The segments of Fast DDS that this process maps: its own, and that of each process whose
/// messages it took from there.
inline std::size_t mapped_segments() {
  const std::regex segment{"/dev/shm/fast(?:dds|rtps)_[0-9a-f]{16}$"};
  std::ifstream maps{"/proc/self/maps"};
  std::set<std::string> names;
  std::smatch found;
  for (std::string line; std::getline(maps, line);) {
    if (std::regex_search(line, found, segment)) {
      names.insert(found.str());
    }
  }
  return names.size();
}

/// The fault of an end that took messages over `shm`; none, too, below a middleware of which this
/// cannot be told.
inline std::optional<os::NotGranted> detour_of(const Options& options) {
  if (options.transport != "shm" || !rcl_versions().at("rmw").starts_with("rmw_fastrtps")) {
    return {};
  }
  if (mapped_segments() >= 2) {
    return {};
  }
  return os::NotGranted{.what = "the messages did not come through shared memory",
                        .why = "Fast DDS got no shared memory, and sent them over UDP",
                        .fix = free_shared_memory};
}

}  // namespace takt::probe
