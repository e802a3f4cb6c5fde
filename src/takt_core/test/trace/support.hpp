// SPDX-License-Identifier: Apache-2.0
//
// A file name that no other test uses, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace takt::test {

class TemporaryFile {
 public:
  TemporaryFile() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string{test->test_suite_name()} + "." + test->name();
    std::ranges::replace(name, '/', '.');  // of parameterised tests
    path_ = std::filesystem::temp_directory_path() /
            ("takt." + std::to_string(getpid()) + "." + name + ".takttrace");
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace takt::test
