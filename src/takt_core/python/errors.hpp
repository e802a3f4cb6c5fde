// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace takt {

// takt_core.Error, for takt::Error; OSError, with its errno, for std::system_error.
void bind_errors(nanobind::module_& module);

}  // namespace takt
