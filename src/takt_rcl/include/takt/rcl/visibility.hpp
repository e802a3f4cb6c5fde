// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which symbols the library takt_rcl exports; everything else is hidden, as in
/// takt/visibility.hpp.

/// @namespace takt
/// The library for robots: nodes, publishers, subscriptions and timers on rcl, and the executor.
#pragma once

/// Exports a class or function from takt_rcl.
#define TAKT_RCL_PUBLIC __attribute__((visibility("default")))

/// Hides a member of an exported class that only the library itself calls.
#define TAKT_RCL_LOCAL __attribute__((visibility("hidden")))
