// SPDX-License-Identifier: Apache-2.0
//
// NodeHandle: owns the rcl_node_t that all copies of a Node and its entities share.
#pragma once

#include <rcl/node.h>

#include <memory>
#include <mutex>
#include <string>

#include "context_handle.hpp"

namespace takt::detail {

struct NodeHandle {
  NodeHandle(std::shared_ptr<ContextHandle> context, const std::string& name,
             const std::string& name_space);
  ~NodeHandle();
  NodeHandle(const NodeHandle&) = delete;
  NodeHandle& operator=(const NodeHandle&) = delete;

  // "topic 'scan', node '/radar'", for errors.
  [[nodiscard]] std::string describe_topic(const std::string& topic) const;

  std::shared_ptr<ContextHandle> context;
  rcl_node_t node;
  std::mutex mutex;  // rcl's creating and destroying of entities is not thread-safe per node
};

}  // namespace takt::detail
