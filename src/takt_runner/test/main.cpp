// SPDX-License-Identifier: Apache-2.0
//
// Keeps the tests to this host and out of the domains that people use; the environment may choose
// another domain.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  // Tests run beside each other, and none needs to see the participants of another come and go.
  constexpr int usual_domains = 100;
  setenv("ROS_DOMAIN_ID", std::to_string(1 + getpid() % usual_domains).c_str(), 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
