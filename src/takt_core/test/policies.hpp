// SPDX-License-Identifier: Apache-2.0
//
// The names of tests that run under each of some policies.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace takt::test {

// "np-edf" as a part of a test's name.
inline std::string policy_name(const ::testing::TestParamInfo<std::string>& policy) {
  std::string name = policy.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace takt::test
