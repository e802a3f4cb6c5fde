// SPDX-License-Identifier: Apache-2.0
/// @file
/// Keeps page faults out of real-time loops: locks mapped pages, keeps freed heap memory, touches
/// the stack before it is needed. Set-up functions; they allocate and take milliseconds.
#pragma once

#include <cstddef>

#include "takt/os/shortfall.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// Locks all present and future pages of the process (mlockall) and makes the heap keep freed
/// memory.
///
/// Locks nothing if the limit for locked memory (RLIMIT_MEMLOCK) is finite and applies to this
/// process: at the limit an allocation would fail and a growing stack would end the process with
/// SIGSEGV.
/// @return one shortfall for each setting that the system refused; empty on success.
TAKT_CORE_PUBLIC Shortfalls lock_memory();

/// Whether the kernel reports locked pages of this process.
TAKT_CORE_PUBLIC bool memory_locked();

/// Touches `bytes` of the calling thread's stack below the present frame, so that calls of that
/// depth cause no page fault.
/// @return a shortfall if the stack is smaller than that; then less is touched.
TAKT_CORE_PUBLIC Shortfalls prefault_stack(std::size_t bytes);

}  // namespace takt::os
