// SPDX-License-Identifier: Apache-2.0
//
// Keeping page faults out of the measuring loop: lock what is mapped, keep what the heap has, touch
// the stack before it is needed.
#pragma once

#include <cstddef>

#include "takt/os/shortfall.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

// Locks all present and future pages of the process, and makes the heap keep what it has freed.
// Locks nothing where the limit for locked memory is finite and binds this process: once it is
// reached, an allocation fails and a growing stack ends the process with SIGSEGV.
TAKT_CORE_PUBLIC Shortfalls lock_memory();

// True when the kernel reports locked pages of this process.
TAKT_CORE_PUBLIC bool memory_locked();

// Touches `bytes` of the calling thread's stack below the present frame, so that calls which go
// that deep find their pages. Touches less, and says so, where the stack is smaller.
TAKT_CORE_PUBLIC Shortfalls prefault_stack(std::size_t bytes);

}  // namespace takt::os
