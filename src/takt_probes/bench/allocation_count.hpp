// SPDX-License-Identifier: Apache-2.0
//
// Counts what operator new hands out in this program. Linking allocation_count.cpp replaces it.
#pragma once

#include <cstdint>

namespace takt::probe {

std::uint64_t allocation_count() noexcept;

}  // namespace takt::probe
