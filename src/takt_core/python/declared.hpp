// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace takt::application {

// takt_core.declared().
void bind(nanobind::module_& module);

}  // namespace takt::application
