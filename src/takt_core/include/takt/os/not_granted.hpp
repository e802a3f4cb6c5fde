// SPDX-License-Identifier: Apache-2.0
/// @file
/// Real-time settings that were requested and not granted. Takt also runs without privileges, so
/// such a setting is a value that becomes part of the result, not an exception: readers of a number
/// must know under which conditions it was measured.
#pragma once

#include <string>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::os {

/// One real-time setting that the system refused. All texts are complete sentences or phrases for
/// users.
struct NotGranted {
  std::string what;  ///< The setting, with its value.
  std::string why;   ///< The reason that the system gave.
  std::string fix;   ///< How the user can obtain the setting.

  bool operator==(const NotGranted&) const = default;
};

/// All settings that a call could not obtain; empty on success.
using SettingsNotGranted = std::vector<NotGranted>;

/// The text of an errno value. Independent of the locale and thread-safe, unlike strerror().
TAKT_CORE_PUBLIC std::string error_text(int error);

}  // namespace takt::os
