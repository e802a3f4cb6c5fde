// SPDX-License-Identifier: Apache-2.0
//
// Reads a number from the command line of an example.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

// The argument at `index`, or `otherwise` where there is none. Throws std::invalid_argument.
inline std::uint32_t number_argument(const std::vector<std::string>& arguments, std::size_t index,
                                     const char* name, std::uint32_t otherwise) {
  if (index >= arguments.size()) return otherwise;
  const std::string& text = arguments[index];
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw std::invalid_argument{std::string{name} + ": '" + text + "' is no number from 0 to " +
                                std::to_string(UINT32_MAX)};
  }
  return number;
}
