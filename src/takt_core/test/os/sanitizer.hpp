// SPDX-License-Identifier: Apache-2.0
//
// Sanitizers keep memory of their own and turn mlockall into nothing, so tests that count pages
// mean nothing under them.
#pragma once

namespace takt::os::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace takt::os::test
