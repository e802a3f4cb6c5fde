// SPDX-License-Identifier: Apache-2.0
//
// IncompatibleQos: writes a warning to the ROS log when the middleware finds another end of a topic
// whose QoS does not go together with this one. Without it nothing arrives, and nobody says why.
#pragma once

#include <rcl/event.h>
#include <rcl/publisher.h>
#include <rcl/subscription.h>

#include <string>

namespace takt::detail {

class IncompatibleQos {
 public:
  // The publisher or subscription must outlive this; `where` says which one it is. A middleware
  // without such events stays silent.
  IncompatibleQos(const rcl_publisher_t& publisher, const std::string& where);
  IncompatibleQos(const rcl_subscription_t& subscription, const std::string& where);
  ~IncompatibleQos();
  IncompatibleQos(const IncompatibleQos&) = delete;
  IncompatibleQos& operator=(const IncompatibleQos&) = delete;
  IncompatibleQos(IncompatibleQos&&) = delete;
  IncompatibleQos& operator=(IncompatibleQos&&) = delete;

 private:
  void listen(bool has_event) noexcept;
  void warn() const noexcept;

  std::string warning_;
  rcl_event_t event_;
  bool notified_{false};
};

}  // namespace takt::detail
