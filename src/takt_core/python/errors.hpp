// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace takt {

// A text for Python; what is no UTF-8 in it, for it was damaged or cut, is replaced.
nanobind::object text(const std::string& bytes);

// takt_core.Error, for takt::Error; OSError, with its errno, for std::system_error.
void bind_errors(nanobind::module_& module);

}  // namespace takt
