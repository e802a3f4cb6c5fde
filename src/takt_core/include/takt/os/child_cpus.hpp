// SPDX-License-Identifier: Apache-2.0
/// @file
/// CPU affinity of threads and processes that a thread bound to one core starts. The kernel lets
/// them inherit that core, which a callback that starts a helper thread does not intend.
#pragma once

#include <vector>

#include "takt/visibility.hpp"

namespace takt::os {

/// As long as an instance exists, every thread that this process starts without attributes
/// (std::thread, std::async) gets the CPUs that the thread which created the instance may use, even
/// if its own creator is confined to a core. The same holds for a process that a confined thread
/// creates with fork(). With several instances the first one decides.
///
/// Limits: a thread started with attributes of its own, and processes started by posix_spawn(),
/// system() or popen(), inherit the CPUs of their creator, because nothing can intercept them.
/// Start these from a thread that is not confined.
class TAKT_CORE_PUBLIC ChildCpus {
 public:
  /// Remembers the CPUs of the calling thread and starts to apply them to new threads.
  ChildCpus();

  /// Ends it: from here on new threads inherit the CPUs of their creators again.
  ~ChildCpus();
  ChildCpus(const ChildCpus&) = delete;
  ChildCpus& operator=(const ChildCpus&) = delete;
  ChildCpus(ChildCpus&&) = delete;
  ChildCpus& operator=(ChildCpus&&) = delete;

  /// Marks the calling thread as confined: its children do not inherit its CPUs. Call it after
  /// binding the thread to a core.
  static void confine_this_thread() noexcept;

  /// @return the CPUs of children of the calling thread, ascending. Empty: children inherit the
  /// thread's own CPUs, because it is not confined or no instance exists. Needed by code that
  /// starts threads with attributes.
  [[nodiscard]] static std::vector<int> of_this_thread();
};

}  // namespace takt::os
