// SPDX-License-Identifier: Apache-2.0
#include "rcl_versions.hpp"

#include <gtest/gtest.h>

namespace takt::probe {
namespace {

TEST(RclVersions, what_is_no_dds_is_on_no_wire_of_dds) {
  unsetenv("RMW_IMPLEMENTATION");
  EXPECT_TRUE(speaks_rtps());
  setenv("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp", 1);
  EXPECT_TRUE(speaks_rtps());
  setenv("RMW_IMPLEMENTATION", "rmw_zenoh_cpp", 1);
  EXPECT_FALSE(speaks_rtps());
  unsetenv("RMW_IMPLEMENTATION");
}

}  // namespace
}  // namespace takt::probe
