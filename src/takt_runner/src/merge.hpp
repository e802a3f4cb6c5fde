// SPDX-License-Identifier: Apache-2.0
//
// One trace of those that the processes of a run wrote: tasks, topics and scenarios are
// the same where their names are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace takt::runner {

// The trace of one host of a robot.
struct PartOfHost {
  std::string host{};
  std::filesystem::path trace{};
  std::int64_t clock_offset{0};  // ns from its clock to that of the merged trace
};

// Writes `merged` from the traces of the hosts, which stay. Cores have the numbers that the
// description gives them over all hosts; an attribute `host` of each says NAME FIRST_CORE. Throws
// std::system_error, std::runtime_error for a part that is no trace of a robot with that host.
void merge_hosts(const std::vector<PartOfHost>& parts, const std::filesystem::path& merged);

// Writes `merged` and removes the parts; a part that is not there, because its process never began,
// is passed over. `attributes` take the place of those of the same key. What the hypervisor stole
// is taken from the first part. Throws std::system_error, std::runtime_error for a part that is no
// trace.
void merge_traces(const std::vector<std::filesystem::path>& parts,
                  const std::filesystem::path& merged,
                  const std::vector<std::pair<std::string, std::string>>& attributes);

}  // namespace takt::runner
