// SPDX-License-Identifier: Apache-2.0
//
// The handles of rcl with the least around them, for the ping-pong that takt_rcl is measured
// against: created in the constructor, finished in the destructor, no checks in between.
#pragma once

#include <rcl/error_handling.h>
#include <rcl/rcl.h>

#include <string>

#include "takt/probe/failure.hpp"

namespace takt::probe {

inline void require(rcl_ret_t result, const char* call) {
  if (result != RCL_RET_OK) {
    const std::string why = rcl_get_error_string().str;
    rcl_reset_error();
    throw Failure{{.what = call, .why = why, .fix = "check --topic and the ROS environment"}};
  }
}

/// For calls whose failure at the end of life changes nothing.
inline void ignore(rcl_ret_t result) {
  if (result != RCL_RET_OK) {
    rcl_reset_error();
  }
}

class RclContext {
 public:
  RclContext() {
    require(rcl_init_options_init(&options_, rcl_get_default_allocator()), "rcl_init_options_init");
    require(rcl_init(0, nullptr, &options_, &handle), "rcl_init");
  }
  ~RclContext() {
    ignore(rcl_shutdown(&handle));
    ignore(rcl_context_fini(&handle));
    ignore(rcl_init_options_fini(&options_));
  }
  RclContext(const RclContext&) = delete;
  RclContext& operator=(const RclContext&) = delete;

  rcl_context_t handle = rcl_get_zero_initialized_context();

 private:
  rcl_init_options_t options_ = rcl_get_zero_initialized_init_options();
};

class RclNode {
 public:
  RclNode(RclContext& context, const std::string& name) {
    const rcl_node_options_t options = rcl_node_get_default_options();
    require(rcl_node_init(&handle, name.c_str(), "", &context.handle, &options), "rcl_node_init");
  }
  ~RclNode() { ignore(rcl_node_fini(&handle)); }
  RclNode(const RclNode&) = delete;
  RclNode& operator=(const RclNode&) = delete;

  rcl_node_t handle = rcl_get_zero_initialized_node();
};

class RclPublisher {
 public:
  RclPublisher(RclNode& node, const rosidl_message_type_support_t* type, const std::string& topic,
               const rmw_qos_profile_t& qos)
      : node_{node} {
    rcl_publisher_options_t options = rcl_publisher_get_default_options();
    options.qos = qos;
    require(rcl_publisher_init(&handle, &node.handle, type, topic.c_str(), &options),
            "rcl_publisher_init");
  }
  ~RclPublisher() { ignore(rcl_publisher_fini(&handle, &node_.handle)); }
  RclPublisher(const RclPublisher&) = delete;
  RclPublisher& operator=(const RclPublisher&) = delete;

  rcl_publisher_t handle = rcl_get_zero_initialized_publisher();

 private:
  RclNode& node_;
};

class RclSubscription {
 public:
  RclSubscription(RclNode& node, const rosidl_message_type_support_t* type,
                  const std::string& topic, const rmw_qos_profile_t& qos)
      : node_{node} {
    rcl_subscription_options_t options = rcl_subscription_get_default_options();
    options.qos = qos;
    const auto result = rcl_subscription_init(&handle, &node.handle, type, topic.c_str(), &options);
    ignore(rcl_subscription_options_fini(&options));
    require(result, "rcl_subscription_init");
  }
  ~RclSubscription() { ignore(rcl_subscription_fini(&handle, &node_.handle)); }
  RclSubscription(const RclSubscription&) = delete;
  RclSubscription& operator=(const RclSubscription&) = delete;

  rcl_subscription_t handle = rcl_get_zero_initialized_subscription();

 private:
  RclNode& node_;
};

}  // namespace takt::probe
