// SPDX-License-Identifier: Apache-2.0
//
// Context: one participation in ROS 2 of this process: its domain, its ROS arguments, the threads
// of its middleware.
//
// The middleware starts its threads when the first node of a context is created (about 12 with
// Fast DDS), and each inherits the scheduling policy, priority and affinity of the creating thread.
// Create contexts and nodes before the calling thread becomes real-time, unless that is wanted.
#pragma once

#include <rcl/context.h>

#include <cstddef>
#include <memory>
#include <string>
#include <takt/rcl/context_options.hpp>
#include <takt/rcl/visibility.hpp>
#include <vector>

namespace takt {

namespace detail {
struct ContextHandle;
}

// A handle: copies share one context, which lives as long as any of them, or any node made with it.
// Thread-safe, except that one object must not be assigned while another thread uses it. Contexts
// are created one at a time. No signal handler is installed; shutdown() may not be called from one.
class TAKT_RCL_PUBLIC Context {
 public:
  // Reads `--ros-args …` (remapping, names, log level). Throws RclError.
  Context(int argc, const char* const* argv, const ContextOptions& options = {});
  // Without arguments. Throws RclError.
  explicit Context(const ContextOptions& options = {});

  // Ends the participation: from here publishing returns a failed Status, and creating throws.
  // What exists stays safe to use and to destroy. The second call does nothing.
  void shutdown() noexcept;

  // False after shutdown().
  [[nodiscard]] bool is_valid() const noexcept;

  // The domain in use. Throws RclError.
  [[nodiscard]] std::size_t get_domain_id() const;

  // argv without `--ros-args …`, the program's name first; empty without arguments.
  [[nodiscard]] const std::vector<std::string>& get_non_ros_arguments() const noexcept;

  // For wait sets. Lives as long as the context.
  [[nodiscard]] rcl_context_t* get_rcl_context() const noexcept;

 private:
  friend class Node;
  std::shared_ptr<detail::ContextHandle> handle_;
};

}  // namespace takt
