// SPDX-License-Identifier: Apache-2.0
//
// Runs something in a child process, for what would spoil the test's own process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace takt::os::test {

// Starts `body` in a child, which leaves with the value that it returns.
template <typename Body>
pid_t start_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  return child;
}

// The exit code of a child; minus the signal that ended it.
inline int end_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

template <typename Body>
int in_child(Body body) {
  return end_of(start_child(body));
}

}  // namespace takt::os::test
