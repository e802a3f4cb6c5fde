// SPDX-License-Identifier: Apache-2.0
#include <rcl/node.h>
#include <rcl/node_options.h>

#include <takt/rcl/node.hpp>
#include <utility>

#include "node_handle.hpp"
#include "rcl_error.hpp"

namespace takt {

namespace detail {

NodeHandle::NodeHandle(std::shared_ptr<ContextHandle> shared_context, const std::string& name,
                       const std::string& name_space)
    : context{std::move(shared_context)}, node{rcl_get_zero_initialized_node()} {
  rcl_node_options_t options = rcl_node_get_default_options();
  const rcl_ret_t code =
      rcl_node_init(&node, name.c_str(), name_space.c_str(), &context->context, &options);
  if (code != RCL_RET_OK) {
    throw_rcl_error(code, "cannot create a node",
                    "name '" + name + "', namespace '" + name_space + "'");
  }
}

NodeHandle::~NodeHandle() {
  log_failure(rcl_node_fini(&node), "cannot close a node");
}

std::string NodeHandle::describe_topic(const std::string& topic) const {
  const char* name = rcl_node_get_fully_qualified_name(&node);
  return "topic '" + topic + "', node '" + (name != nullptr ? name : "?") + "'";
}

namespace {

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

}  // namespace

}  // namespace detail

Node::Node(const Context& context, const std::string& name, const std::string& name_space)
    : context_{context},
      handle_{std::make_shared<detail::NodeHandle>(context.handle_, name, name_space)} {}

std::string Node::get_name() const {
  return detail::text_or_empty(rcl_node_get_name(&handle_->node));
}

std::string Node::get_namespace() const {
  return detail::text_or_empty(rcl_node_get_namespace(&handle_->node));
}

std::string Node::get_fully_qualified_name() const {
  return detail::text_or_empty(rcl_node_get_fully_qualified_name(&handle_->node));
}

}  // namespace takt
