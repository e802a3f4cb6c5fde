// SPDX-License-Identifier: Apache-2.0
//
// Keeps the tests to this host and out of the domains that people use; the environment may choose
// another domain. Topics carry the process id (support.hpp), so tests may run side by side.
// Destructors report to the ROS log only, so every test also fails when takt_rcl logs an error.
#include <gtest/gtest.h>
#include <rcutils/logging.h>

#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int> logged_errors{0};

void handle_log(const rcutils_log_location_t* location, int severity, const char* name,
                rcutils_time_point_value_t time, const char* format, va_list* arguments) {
  if (severity >= RCUTILS_LOG_SEVERITY_ERROR && std::strcmp(name, "takt_rcl") == 0) ++logged_errors;
  rcutils_logging_console_output_handler(location, severity, name, time, format, arguments);
}

class NoLoggedErrors : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { logged_errors = 0; }
  void OnTestEnd(const testing::TestInfo&) override {
    EXPECT_EQ(logged_errors, 0) << "takt_rcl logged errors, see above";
  }
};

}  // namespace

int main(int argc, char** argv) {
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  setenv("ROS_DOMAIN_ID", "77", 0);
  testing::InitGoogleTest(&argc, argv);
  if (rcutils_logging_initialize() != RCUTILS_RET_OK) return EXIT_FAILURE;
  rcutils_logging_set_output_handler(handle_log);
  testing::UnitTest::GetInstance()->listeners().Append(new NoLoggedErrors);
  return RUN_ALL_TESTS();
}
