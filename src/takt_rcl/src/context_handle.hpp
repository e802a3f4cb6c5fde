// SPDX-License-Identifier: Apache-2.0
//
// ContextHandle: owns the rcl_context_t that all copies of a Context and their nodes share.
#pragma once

#include <rcl/context.h>

#include <mutex>
#include <string>
#include <takt/rcl/context_options.hpp>
#include <vector>

namespace takt::detail {

struct ContextHandle {
  ContextHandle(int argc, const char* const* argv, const ContextOptions& options);
  ~ContextHandle();
  ContextHandle(const ContextHandle&) = delete;
  ContextHandle& operator=(const ContextHandle&) = delete;

  void shutdown() noexcept;

  rcl_context_t context;
  std::vector<std::string> non_ros_arguments;

 private:
  // Delegated to, so that the destructor also runs when the constructor above throws.
  ContextHandle() noexcept;

  std::mutex shutdown_mutex_;
};

}  // namespace takt::detail
