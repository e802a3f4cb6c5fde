// SPDX-License-Identifier: Apache-2.0
//
// What the library takt_core shows to others. All else in it is hidden: it cannot be linked to, is
// called without a detour, and may change from one version to the next. A class with functions that
// are not inline is public as a whole, and so is what is thrown, or derived from in another
// library.
#pragma once

#define TAKT_CORE_PUBLIC __attribute__((visibility("default")))
// Of a public class, what only the library itself calls.
#define TAKT_CORE_LOCAL __attribute__((visibility("hidden")))
