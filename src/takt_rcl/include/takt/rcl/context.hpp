// SPDX-License-Identifier: Apache-2.0
/// @file
/// Context: the participation of this process in ROS 2: its domain, its ROS arguments, the threads
/// of its middleware.
///
/// The middleware starts its threads when the first node of a context is created (about 12 with
/// Fast DDS), and each inherits the scheduling policy, priority and affinity of the creating
/// thread. Create contexts and nodes before the calling thread becomes real-time, unless that is
/// intended.
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

/// A handle: copies share one context, which exists as long as any copy, or any node created with
/// it.
///
/// Thread-safe, except that one object must not be assigned while another thread uses it. Contexts
/// are created one at a time. A context installs no signal handler, and shutdown() must not be
/// called from one.
class TAKT_RCL_PUBLIC Context {
 public:
  /// Initialises ROS 2 with `--ros-args …` (remapping, names, log level) from the command line.
  /// @throws RclError if rcl refuses the arguments or the options.
  Context(int argc, const char* const* argv, const ContextOptions& options = {});

  /// Initialises ROS 2 without arguments.
  /// @throws RclError if rcl refuses the options.
  explicit Context(const ContextOptions& options = {});

  /// Ends the participation: publishing returns a failed Status from here on, and creating entities
  /// throws. Existing objects stay safe to use and to destroy. A second call has no effect.
  void shutdown() noexcept;

  /// False after shutdown().
  [[nodiscard]] bool is_valid() const noexcept;

  /// The DDS domain in use.
  /// @throws RclError if rcl cannot report it.
  [[nodiscard]] std::size_t get_domain_id() const;

  /// The arguments without `--ros-args …`, beginning with the program's name; empty without
  /// arguments.
  [[nodiscard]] const std::vector<std::string>& get_non_ros_arguments() const noexcept;

  /// The context of rcl, for wait sets. Valid as long as the context exists.
  [[nodiscard]] rcl_context_t* get_rcl_context() const noexcept;

 private:
  friend class Node;
  std::shared_ptr<detail::ContextHandle> handle_;
};

}  // namespace takt
