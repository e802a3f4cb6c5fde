// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

// How long one job computes. Throws ParseError.
ExecutionTime parse_execution_time(const Json& json, const std::string& path);

}  // namespace takt::application
