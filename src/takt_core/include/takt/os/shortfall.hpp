// SPDX-License-Identifier: Apache-2.0
//
// A shortfall is a real-time setting that was asked for and not obtained. Takt runs without
// privileges too, so this is a value that ends up in the result, not an exception: whoever reads a
// number must be able to see under which conditions it came about.
#pragma once

#include <string>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::os {

struct Shortfall {
  std::string what;  // the setting, with its value
  std::string why;   // the reason that the system gave
  std::string fix;   // what the user can do

  bool operator==(const Shortfall&) const = default;
};

using Shortfalls = std::vector<Shortfall>;

// The system's text for an errno value, without the locale and thread traps of strerror.
TAKT_CORE_PUBLIC std::string error_text(int error);

}  // namespace takt::os
