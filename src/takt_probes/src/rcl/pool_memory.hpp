// SPDX-License-Identifier: Apache-2.0
//
// rcl's allocator, and the memory of messages, from a pool of fixed size with constant times. All
// of rcutils, rcl and rmw that asks rcutils for its default allocator is served; what a DDS
// allocates by itself is not. Without a pool everything is the heap's, as without this file.
#pragma once

#include <cstddef>

#include "takt/probe/tlsf_pool.hpp"

namespace takt::probe {

/// Once, before the middleware is opened: from here on. Its memory stays to the end of the process.
void start_pool(std::size_t bytes);

/// Null before start_pool().
const TlsfPool* pool() noexcept;

/// While it lives, what this thread makes with `new` is the pool's.
class InPool {
 public:
  InPool() noexcept;
  ~InPool();
  InPool(const InPool&) = delete;
  InPool& operator=(const InPool&) = delete;
  InPool(InPool&&) = delete;
  InPool& operator=(InPool&&) = delete;

 private:
  bool before_;
};

}  // namespace takt::probe
