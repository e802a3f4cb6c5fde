// SPDX-License-Identifier: Apache-2.0
//
// What options must satisfy, each by itself and together. Every rule that is broken is a UsageError
// which names the option, the reason and the fix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/probe/options.hpp"

namespace takt::probe {

[[noreturn]] void refuse(const std::string& option, const std::string& given,
                         const std::string& why, const std::string& fix);

/// The names with commas, or something else, between them.
template <class Range>
std::string listed(const Range& names, const std::string& between = ", ") {
  std::string text;
  for (const auto& name : names) {
    text += (text.empty() ? "" : between) + std::string{name};
  }
  return text;
}

void check_range(const std::string& option, std::int64_t given, std::int64_t least,
                 std::int64_t most);

/// Reads "N" or "N,M".
std::vector<int> parse_cpus(const std::string& text);

/// Reads "N" or "N-M".
DdsPriority parse_dds_priority(const std::string& text);

/// Fills in the default transport and checks everything that depends on more than one option.
void check_together(Options& options, std::string_view stack,
                    const std::vector<Capability>& capabilities);

}  // namespace takt::probe
