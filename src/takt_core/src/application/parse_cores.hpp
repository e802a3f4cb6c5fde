// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object.hpp"
#include "takt/application/core.hpp"

namespace takt::application {

// One entry of "cores". `host`: takes that of a robot's; null: there are none. Throws ParseError.
Core parse_core(const Json& json, const std::string& path, std::string* host = nullptr);

}  // namespace takt::application
