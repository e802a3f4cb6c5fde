// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object.hpp"
#include "takt/application/core.hpp"

namespace takt::application {

// One entry of "cores". Throws ParseError.
Core parse_core(const Json& json, const std::string& path);

}  // namespace takt::application
