// SPDX-License-Identifier: Apache-2.0
//
// A program under test that reads and writes lines.
#pragma once

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace takt::test {

// It ends when its input does, with this object.
class LineProcess {
 public:
  explicit LineProcess(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw std::runtime_error("no socket pair");
    }
    pid_ = fork();
    if (pid_ == 0) {
      if (dup2(ends[1], 0) < 0 || dup2(ends[1], 1) < 0) {
        _exit(126);
      }
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    socket_ = ends[0];
    heard_ = fdopen(socket_, "r");
  }
  ~LineProcess() {
    std::fclose(heard_);
    waitpid(pid_, nullptr, 0);
  }
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;
  LineProcess(LineProcess&&) = delete;
  LineProcess& operator=(LineProcess&&) = delete;

  void say(const std::string& line) {
    const std::string all = line + '\n';
    if (send(socket_, all.data(), all.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(all.size())) {
      throw std::runtime_error("it does not listen");
    }
  }
  // Its next line; empty: it has ended.
  [[nodiscard]] std::string hear() {
    std::string line;
    for (int c = std::fgetc(heard_); c != EOF && c != '\n'; c = std::fgetc(heard_)) {
      line += static_cast<char>(c);
    }
    return line;
  }

 private:
  int socket_ = -1;
  std::FILE* heard_ = nullptr;
  pid_t pid_ = 0;
};

}  // namespace takt::test
