// SPDX-License-Identifier: Apache-2.0
//
// Keeps the tests to this host and out of the domains that people use; the environment may choose
// another domain.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  setenv("ROS_DOMAIN_ID", "77", 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
