// SPDX-License-Identifier: Apache-2.0
//
// Short names of takt_core's namespaces within this library. Public headers do without: what they
// declare would be names of takt_rclcpp for all who include them.
#pragma once

namespace takt::executor {}
namespace takt::os {}
namespace takt::sched {}
namespace takt::trace {}

namespace takt_rclcpp {

namespace executor = takt::executor;
namespace os = takt::os;
namespace sched = takt::sched;
namespace trace = takt::trace;

}  // namespace takt_rclcpp
