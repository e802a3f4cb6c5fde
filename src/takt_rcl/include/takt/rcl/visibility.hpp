// SPDX-License-Identifier: Apache-2.0
//
// What the library takt_rcl shows to others; all else in it is hidden, as in takt/visibility.hpp.
#pragma once

#define TAKT_RCL_PUBLIC __attribute__((visibility("default")))
// Of a public class, what only the library itself calls.
#define TAKT_RCL_LOCAL __attribute__((visibility("hidden")))
