// SPDX-License-Identifier: Apache-2.0
//
// Phrases of error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "takt/sched/task.hpp"

namespace takt::sched {

// The text; if it is longer than `most` bytes, its beginning with "…" and its length.
std::string shortened(std::string_view text, std::size_t most);

// "'name'", shortened if it would fill a screen.
std::string name_text(std::string_view name);

// "task 'name'"
std::string task_text(const Task& task);

// In the largest unit that keeps it readable: "1.5 ms".
std::string time_text(nanoseconds time);

// The candidate that a mistyped name probably means; empty if none is close.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

// What to do about an unknown name: "did you mean 'x'?", else the candidates.
std::string fix_text(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace takt::sched
