// SPDX-License-Identifier: Apache-2.0
//
// ContextHandle: owns the rcl_context_t that all copies of a Context and their nodes share.
#pragma once

#include <rcl/context.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <takt/rcl/context_options.hpp>
#include <typeindex>
#include <utility>
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

  // For messages by pointer: LocalChannel by topic and type, as long as anybody has it.
  bool use_intra_process{true};
  std::mutex channels_mutex;
  std::map<std::pair<std::string, std::type_index>, std::weak_ptr<void>> channels;

 private:
  // Delegated to, so that the destructor also runs when the constructor above throws.
  ContextHandle() noexcept;

  std::mutex shutdown_mutex_;
};

}  // namespace takt::detail
