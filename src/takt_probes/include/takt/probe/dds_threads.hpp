// SPDX-License-Identifier: Apache-2.0
//
// Priorities of the threads that a DDS implementation starts (Gutierrez et al. 2018, test B.4: DDS
// 70 to 80, executor 80). Some take them from their configuration, others from nowhere, so what is
// not as asked when the ends have met is set thread by thread, and all is read back from
// /proc/self/task.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "takt/os/not_granted.hpp"
#include "takt/os/thread.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// Whether a thread of this name receives or sends messages; the others of a DDS keep house.
bool carries_messages(std::string_view name) noexcept;

/// A thread of the middleware: what was asked of it, what it has, and where it has that from.
struct DdsThread {
  os::ThreadStatus status;
  int asked = 0;
  std::string_view set_by;  ///< configuration, inherited, probe; later: it came afterwards
};

class DdsThreads {
 public:
  /// Before the middleware starts: the threads that are there now are not its own.
  explicit DdsThreads(const Options& options);

  /// Gives each thread of the middleware its priority, once the ends have met; from any thread.
  void enforce();

  /// What has become of them by `now`, all threads of this process at the end of the loop.
  [[nodiscard]] std::vector<DdsThread> found(const std::vector<os::ThreadStatus>& now) const;

  /// What differs from what was asked, with the names; nothing where nothing was asked.
  [[nodiscard]] os::SettingsNotGranted not_granted(const std::vector<DdsThread>& found) const;

 private:
  [[nodiscard]] bool is_dds(const os::ThreadStatus& thread) const noexcept;
  [[nodiscard]] int asked_of(std::string_view name) const noexcept;

  const Options& options_;
  std::vector<pid_t> before_;
  std::mutex mutex_;
  std::vector<DdsThread> met_;
  std::string refused_;
};

}  // namespace takt::probe
