// SPDX-License-Identifier: Apache-2.0
#include "takt/os/not_granted.hpp"

#include <system_error>

namespace takt::os {

std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace takt::os
