// SPDX-License-Identifier: Apache-2.0
//
// One trace of those that the processes of a run wrote: tasks, topics and scenarios are
// the same where their names are.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace takt::runner {

// Writes `merged` and removes the parts; a part that is not there, because its process never began,
// is passed over. `attributes` take the place of those of the same key. What the hypervisor stole
// is taken from the first part. Throws std::system_error, std::runtime_error for a part that is no
// trace.
void merge_traces(const std::vector<std::filesystem::path>& parts,
                  const std::filesystem::path& merged,
                  const std::vector<std::pair<std::string, std::string>>& attributes);

}  // namespace takt::runner
