// SPDX-License-Identifier: Apache-2.0
//
// The message type as this program uses it. roscpp's serializer asks allocators for a member that
// C++20 took from std::allocator; an allocator that still has it is all that is needed.
#pragma once

#include <takt_ros1/Sample.h>

#include <memory>

namespace takt::probe {

template <class T>
struct RosAllocator : std::allocator<T> {
  using std::allocator<T>::allocator;
  template <class U>
  struct rebind {
    using other = RosAllocator<U>;
  };
};

using Ros1Sample = takt_ros1::Sample_<RosAllocator<void>>;

}  // namespace takt::probe
