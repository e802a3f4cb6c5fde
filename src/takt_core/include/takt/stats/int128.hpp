// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one integer that holds any sum of int64 values. It is a compiler extension; declaring it
/// once keeps -Wpedantic silent everywhere else.
#pragma once

namespace takt::stats {

/// A signed integer of 128 bits.
__extension__ using Int128 = __int128;

}  // namespace takt::stats
