// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/application/application.hpp"

namespace takt::application {

// Another worst case means that all times change in proportion.
void set_worst(ExecutionTime& execution, nanoseconds worst);

}  // namespace takt::application
