// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/input.hpp"

namespace takt::executor {

// Not inline, so that the type is defined here alone, and not once more in each library that uses
// it.
Input::~Input() = default;

}  // namespace takt::executor
