// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/mutex.hpp"

#include <system_error>

namespace takt::executor {

PriorityMutex::PriorityMutex() {
  static const int missing = os::futex_pi_error();
  if (missing != 0) {
    throw std::system_error{missing, std::generic_category(),
                            "cannot create a mutex with priority inheritance"};
  }
}

}  // namespace takt::executor
