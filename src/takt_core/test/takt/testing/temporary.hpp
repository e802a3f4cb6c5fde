// SPDX-License-Identifier: Apache-2.0
//
// Folders and files of a test, removed with it.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace takt::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "takt_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), name};
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

// The name of a file in a folder of its own, for the test to write.
class TemporaryFile {
 public:
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "test.takttrace";
};

}  // namespace takt::test
