// SPDX-License-Identifier: Apache-2.0
//
// Where threads and processes run that are started by a thread which is bound to a core. The kernel
// lets them inherit its CPUs, and a callback that starts a helper means no such thing.
#pragma once

#include <vector>

#include "takt/visibility.hpp"

namespace takt::os {

// While one lives, all threads of this process that are started without attributes (std::thread,
// std::async) may run where the thread that made it may, and not where their creators are bound to;
// the same holds for a process that a confined thread makes by fork(). Of several at once the first
// one counts. A thread that is started with attributes of its own, and what is started by
// posix_spawn(), system() or popen(), inherits the CPUs of its creator: nobody can come in between.
// Start these from a thread without attributes.
class TAKT_CORE_PUBLIC ChildCpus {
 public:
  ChildCpus();
  ~ChildCpus();
  ChildCpus(const ChildCpus&) = delete;
  ChildCpus& operator=(const ChildCpus&) = delete;
  ChildCpus(ChildCpus&&) = delete;
  ChildCpus& operator=(ChildCpus&&) = delete;

  // The calling thread is bound to a core, and its children shall not be.
  static void confine_this_thread() noexcept;

  // Where its children run, ascending; empty: they inherit its own, as it is not confined, or none
  // lives. For whoever starts threads with attributes.
  [[nodiscard]] static std::vector<int> of_this_thread();
};

}  // namespace takt::os
