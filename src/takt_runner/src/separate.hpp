// SPDX-License-Identifier: Apache-2.0
//
// An execution whose processes are forked: each leaves a part of the trace, and one more writes
// what comes from outside of the application.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <takt/baseline/node_processes.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/context.hpp>
#include <utility>
#include <vector>

#include "common.hpp"
#include "settings.hpp"

namespace takt::runner {

// Every message through the middleware.
inline const ContextOptions through_middleware{.use_intra_process = false};

// What lives in a forked process until _exit(). Taking leave of each other is not part of the
// experiment, takes seconds with dozens of nodes, and does not always end: Fast DDS may wait for a
// callback of its own forever. Whoever started the execution removes the shared memory.
template <class Thing, class... Arguments>
Thing& until_the_process_ends(Arguments&&... arguments) {
  return *std::make_unique<Thing>(std::forward<Arguments>(arguments)...).release();
}

// The processes of one execution. None may have a context when it is made.
class Separate {
 public:
  // Executes its share until the end of the execution, and leaves its part of the trace.
  using Run = std::function<void(const std::filesystem::path& part, os::StopFlag& stop)>;

  // Of so many processes, besides the one that stands for the world outside. Throws
  // std::system_error.
  Separate(const Execution& execution, std::size_t processes);

  [[nodiscard]] Common& common() noexcept { return common_; }

  void add(const std::string& name, const Run& run);

  // One more part of the trace, for a process that leaves two.
  std::filesystem::path add_part();

  // Returns when all have ended, with one trace, whose `attributes` take the place of those of the
  // parts. Throws std::runtime_error for a process that failed; the trace is there then, too.
  // `kind`: what a process is called.
  void run(const os::StopFlag& stop, const std::string& kind,
           const std::vector<std::pair<std::string, std::string>>& attributes);

 private:
  void add(baseline::NodeProcess process, const Run& run);

  const Execution& execution_;
  bool outside_;
  Common common_;
  std::vector<std::filesystem::path> parts_;
  std::vector<baseline::NodeProcess> processes_;
};

}  // namespace takt::runner
