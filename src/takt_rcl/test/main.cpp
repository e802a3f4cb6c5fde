// SPDX-License-Identifier: Apache-2.0
//
// Keeps the tests to this host and out of the domains that people use; the environment may choose
// another domain. Topics carry the process id (support.hpp), so tests may run side by side.
// Destructors report to the ROS log only, so every test also fails when takt_rcl logs an error.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <rcutils/logging.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which have their own
// Where a crash was: the middleware's threads crash elsewhere than the test, and seldom twice.
void print_frames(int number) {
  std::array<void*, 64> frames{};
  backtrace_symbols_fd(frames.data(), backtrace(frames.data(), frames.size()), STDERR_FILENO);
  static_cast<void>(std::signal(number, SIG_DFL));
  static_cast<void>(std::raise(number));
}

void report_crashes() {
  std::array<void*, 1> first{};
  backtrace(first.data(), first.size());  // loads what it needs, which a crash may not
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT}) {
    static_cast<void>(std::signal(number, print_frames));
  }
}
#else
void report_crashes() {}
#endif

}  // namespace

int main(int argc, char** argv) {
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);
  // Tests run beside each other, and none needs to see the participants of another come and go.
  constexpr int usual_domains = 100;
  setenv("ROS_DOMAIN_ID", std::to_string(1 + getpid() % usual_domains).c_str(), 0);
  report_crashes();
  testing::InitGoogleTest(&argc, argv);
  if (rcutils_logging_initialize() != RCUTILS_RET_OK) return EXIT_FAILURE;
  rcutils_logging_set_output_handler(handle_log);
  testing::UnitTest::GetInstance()->listeners().Append(new NoLoggedErrors);
  return RUN_ALL_TESTS();
}
