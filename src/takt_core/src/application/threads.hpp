// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "takt/application/threads.hpp"

namespace takt::application {

// "process 'vision'", "thread 'vision.dds'".
std::string place_text(const Process& process);

// Whether one is a thread of the other.
bool belong_together(const Process& left, const Process& right);

}  // namespace takt::application
