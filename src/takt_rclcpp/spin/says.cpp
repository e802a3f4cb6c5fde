// SPDX-License-Identifier: Apache-2.0
#include "says.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace takt_rclcpp::spin {
namespace {

std::string program() {
  std::array<char, 64> name{};
  const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : ::read(file, name.data(), name.size());
  if (file >= 0) {
    ::close(file);
  }
  std::string text(name.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
  return text;
}

// In one call: lines of other processes do not come between.
void write_whole(int file, const std::string& line) {
  [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
}

}  // namespace

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string{} : std::string{value};
}

std::string process_name() {
  return program() + '[' + std::to_string(::getpid()) + ']';
}

void say(const std::string& words) {
  write_whole(STDERR_FILENO, "takt spin: " + process_name() + ": " + words + '\n');
}

void report(const char* kind, std::initializer_list<std::string> fields) {
  const std::string path = variable(report_variable);
  if (path.empty()) {
    return;
  }
  std::string line = std::string{kind} + '\t' + std::to_string(::getpid()) + '\t' + program();
  for (std::string field : fields) {
    std::replace(field.begin(), field.end(), '\t', ' ');
    std::replace(field.begin(), field.end(), '\n', ' ');
    line.append(1, '\t').append(field);
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file >= 0) {
    write_whole(file, line + '\n');
    ::close(file);
  }
}

}  // namespace takt_rclcpp::spin
