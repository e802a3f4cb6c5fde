// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "takt/application/threads.hpp"

namespace takt::application {

// "process 'vision'", "thread 'vision.dds'", "core 1 of process 'vision'".
std::string place_text(const Process& process);

// Whether both are of one process.
bool belong_together(const Process& left, const Process& right);

}  // namespace takt::application
