// SPDX-License-Identifier: Apache-2.0
//
// The one integer that can hold any sum of int64 values. A compiler extension, so that -Wpedantic
// has to be told once.
#pragma once

namespace takt::stats {

__extension__ using Int128 = __int128;

}  // namespace takt::stats
