// SPDX-License-Identifier: Apache-2.0
//
// A program under test, with its output.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::test {

// Interrupted at the latest when it is forgotten.
class Process {
 public:
  // `prefix`: searched for packages before all others.
  Process(std::vector<std::string> arguments, const std::filesystem::path& output,
          const std::string& prefix)
      : output_{output} {
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    const char* const others = std::getenv("AMENT_PREFIX_PATH");
    const std::string all = prefix + (others == nullptr ? "" : ":" + std::string{others});
    pid_ = fork();
    if (pid_ == 0) {
      setenv("AMENT_PREFIX_PATH", all.c_str(), 1);
      const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      if (dup2(file, 1) < 0 || dup2(file, 2) < 0) {
        _exit(126);
      }
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  ~Process() {
    if (pid_ > 0) {
      end();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;

  // Its exit code; -1: it was killed.
  int end() {
    kill(pid_, SIGINT);
    return wait();
  }
  int wait() {
    constexpr std::chrono::seconds patience{150};
    int status = 0;
    const auto deadline = os::now() + patience;
    while (waitpid(pid_, &status, WNOHANG) != pid_) {
      if (os::now() > deadline) {
        kill(pid_, SIGKILL);
        waitpid(pid_, &status, 0);
        break;
      }
      os::sleep_until(os::now() + std::chrono::milliseconds{1});
    }
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string output() const {
    std::stringstream text;
    text << std::ifstream{output_}.rdbuf();
    return text.str();
  }
  [[nodiscard]] bool has_said(const std::string& words) const {
    return output().find(words) != std::string::npos;
  }

 private:
  const std::filesystem::path output_;
  pid_t pid_ = 0;
};

}  // namespace takt::test
