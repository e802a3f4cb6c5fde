// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

inline constexpr std::int64_t most_messages = 1'000;  // of one job on a topic, or at once

// How many messages each job of a callback publishes, and when. Throws ParseError.
void parse_publications(Object& object, Callback& callback);

}  // namespace takt::application
