// SPDX-License-Identifier: Apache-2.0
#include <takt/rcl/status.hpp>

namespace takt {

// The codes that the calls of this library can return, as of ROS 2 Jazzy; later ones are added at
// the end of rcl's list and read as "unknown code".
const char* Status::name() const noexcept {
#define TAKT_NAME(code) \
  case code:            \
    return #code;
  switch (code_) {
    TAKT_NAME(RCL_RET_OK)
    TAKT_NAME(RCL_RET_ERROR)
    TAKT_NAME(RCL_RET_TIMEOUT)
    TAKT_NAME(RCL_RET_UNSUPPORTED)
    TAKT_NAME(RCL_RET_BAD_ALLOC)
    TAKT_NAME(RCL_RET_INVALID_ARGUMENT)
    TAKT_NAME(RMW_RET_INCORRECT_RMW_IMPLEMENTATION)
    TAKT_NAME(RCL_RET_ALREADY_INIT)
    TAKT_NAME(RCL_RET_NOT_INIT)
    TAKT_NAME(RCL_RET_MISMATCHED_RMW_ID)
    TAKT_NAME(RCL_RET_TOPIC_NAME_INVALID)
    TAKT_NAME(RCL_RET_UNKNOWN_SUBSTITUTION)
    TAKT_NAME(RCL_RET_ALREADY_SHUTDOWN)
    TAKT_NAME(RCL_RET_NODE_INVALID)
    TAKT_NAME(RCL_RET_NODE_INVALID_NAME)
    TAKT_NAME(RCL_RET_NODE_INVALID_NAMESPACE)
    TAKT_NAME(RCL_RET_PUBLISHER_INVALID)
    TAKT_NAME(RCL_RET_SUBSCRIPTION_INVALID)
    TAKT_NAME(RCL_RET_SUBSCRIPTION_TAKE_FAILED)
    TAKT_NAME(RCL_RET_INVALID_REMAP_RULE)
    TAKT_NAME(RCL_RET_INVALID_ROS_ARGS)
    TAKT_NAME(RCL_RET_INVALID_PARAM_RULE)
    TAKT_NAME(RCL_RET_INVALID_LOG_LEVEL_RULE)
    default:
      return "unknown code";
  }
#undef TAKT_NAME
}

}  // namespace takt
