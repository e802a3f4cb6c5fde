// SPDX-License-Identifier: Apache-2.0
//
// A process that gets no large pieces of memory any more, such as stacks of threads.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace takt::test {

// Keeps this process from getting more than a little memory, as long as it lives.
class LittleMemory {
 public:
  LittleMemory() {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    rlimit limit = before_;
    limit.rlim_cur = pages * page + std::size_t{16} * 1024 * 1024;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;
  LittleMemory(LittleMemory&&) = delete;
  LittleMemory& operator=(LittleMemory&&) = delete;

 private:
  rlimit before_{};
};

}  // namespace takt::test
