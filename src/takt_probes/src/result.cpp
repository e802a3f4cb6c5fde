// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/result.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Failure{{.what = "the result document " + path.string() + " could not be written",
                 .why = os::error_text(error),
                 .fix = "choose another path with --result, or free space there"}};
}

}  // namespace

void write_document(const std::filesystem::path& path, const std::string& text) {
  const auto written = [&text](std::FILE* file) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
           std::fputc('\n', file) != EOF && std::fflush(file) == 0;
  };
  if (path.empty()) {
    if (!written(stdout)) {
      fail("on standard output", errno);
    }
    return;
  }
  // A device or a pipe is written to; only a file can be replaced as a whole.
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  const bool replace =
      kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  const std::filesystem::path target = replace ? path.string() + ".unfinished" : path.string();
  std::FILE* file = std::fopen(target.c_str(), "we");
  if (file == nullptr) {
    fail(path, errno);
  }
  int error = written(file) ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) {
    error = errno;
  }
  if (replace && error == 0 && std::rename(target.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    if (replace) {
      std::remove(target.c_str());
    }
    fail(path, error);
  }
}

}  // namespace takt::probe
