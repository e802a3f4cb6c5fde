// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keeps page faults out of real-time loops: locks mapped pages, keeps freed heap memory, touches
/// the stack before it is needed. Set-up functions; they allocate and take milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/os/not_granted.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// What is locked of the stacks of threads that others start.
enum class Stacks : std::uint8_t {
  used,   ///< What they use. Pages that are mapped later are locked when they are first touched.
  whole,  ///< All, 8 MB a thread by default: no thread of the process has a page fault.
};

/// Locks all present and future pages of the process (mlockall), makes the present ones resident,
/// and makes the heap keep freed memory.
///
/// Locks nothing if the limit for locked memory (RLIMIT_MEMLOCK) is finite and applies to this
/// process: at the limit an allocation would fail and a growing stack would end the process with
/// SIGSEGV.
/// @return what the system did not grant, setting by setting; empty on success.
TAKT_CORE_PUBLIC SettingsNotGranted lock_memory(Stacks of_others = Stacks::used);

/// After lock_memory(): makes the mapped pages resident, and locks them: programs, libraries, heap;
/// of threads' stacks only what is in use. To be called again after set-up that loads libraries or
/// allocates: what is new since is made resident, in microseconds where nothing is. Does nothing
/// where lock_memory() locked nothing, or everything.
TAKT_CORE_PUBLIC void populate_memory();

/// Whether the kernel reports locked pages of this process.
TAKT_CORE_PUBLIC bool memory_locked();

/// Touches `bytes` of the calling thread's stack below the present frame, so that calls of that
/// depth cause no page fault; after lock_memory(), all of it is made resident and locked.
/// @return what was not granted, where the stack is smaller than that; then less is touched.
TAKT_CORE_PUBLIC SettingsNotGranted prefault_stack(std::size_t bytes);

}  // namespace takt::os
