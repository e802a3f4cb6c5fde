// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>
#include <takt/baseline/node_processes.hpp>
#include <takt/os/thread.hpp>

namespace takt::baseline {
namespace {

using namespace std::chrono_literals;

// A child that is asked to stop before its own handlers are there would set the parent's flag.
class SignalsWait {
 public:
  SignalsWait() noexcept {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM}) {
      sigaddset(&signals, signal);
    }
    pthread_sigmask(SIG_BLOCK, &signals, &former_);
  }
  ~SignalsWait() { end(); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  SignalsWait(SignalsWait&&) = delete;
  SignalsWait& operator=(SignalsWait&&) = delete;

  void end() const noexcept { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

 private:
  sigset_t former_{};
};

int run_child(const NodeProcess& process, pid_t parent, const SignalsWait& waiting) {
  try {
    os::StopFlag stop;
    const os::StopOnSignal on_signal{stop};
    waiting.end();
    os::end_with_parent(SIGTERM, parent);
    os::ThreadSettings settings{.cpus = process.cpus};
    if (process.priority > 0) {
      settings.policy = os::SchedulingPolicy::fifo;
      settings.priority = process.priority;
    }
    for (const os::NotGranted& refused_setting : os::apply(settings)) {
      std::fprintf(stderr, "%s: not granted: %s: %s. To get it: %s.\n", process.name.c_str(),
                   refused_setting.what.c_str(), refused_setting.why.c_str(),
                   refused_setting.fix.c_str());
    }
    return process.run(stop);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", process.name.c_str(), error.what());
    return 1;
  }
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void signal_all(const std::vector<pid_t>& children, int signal) {
  for (const pid_t child : children) {
    if (child > 0) {
      kill(child, signal);
    }
  }
}

// All of them, or none: throws std::system_error when one cannot be started.
std::vector<pid_t> start_all(const std::vector<NodeProcess>& processes) {
  std::vector<pid_t> children;
  const pid_t parent = getpid();
  std::fflush(nullptr);  // what is buffered must not be written by each child again
  for (const NodeProcess& process : processes) {
    const SignalsWait waiting;
    const pid_t child = fork();
    if (child == 0) {
      const int code = run_child(process, parent, waiting);
      std::fflush(nullptr);
      _exit(code);  // without the destructors of what belongs to the parent
    }
    if (child < 0) {
      const int error = errno;
      signal_all(children, SIGKILL);
      for (const pid_t started : children) {
        waitpid(started, nullptr, 0);
      }
      throw std::system_error{error, std::generic_category(),
                              "cannot start the process of node '" + process.name + "'"};
    }
    children.push_back(child);
  }
  return children;
}

}  // namespace

std::vector<EndedProcess> run_node_processes(const std::vector<NodeProcess>& processes,
                                             const os::StopFlag& stop) {
  std::vector<pid_t> children = start_all(processes);
  std::vector<EndedProcess> ended;
  ended.reserve(processes.size());
  for (const NodeProcess& process : processes) {
    ended.push_back({.name = process.name});
  }
  bool asked = false;
  for (std::size_t left = children.size(); left > 0;) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      int status = 0;
      if (children[i] > 0 && waitpid(children[i], &status, WNOHANG) == children[i]) {
        ended[i].exit_code = exit_code_of(status);
        children[i] = 0;
        --left;
      }
    }
    if (!asked && stop.requested()) {
      signal_all(children, SIGTERM);
      asked = true;
    }
    if (left > 0) {
      constexpr auto pause = 10ms;
      asked ? os::sleep_until(os::now() + pause)
            : static_cast<void>(stop.wait_until(os::now() + pause));
    }
  }
  return ended;
}

}  // namespace takt::baseline
