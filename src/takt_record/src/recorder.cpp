// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace takt_record {

namespace {

enum class State : std::uint8_t { closed, opening, open, off };

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): tracetools has no object
Recording recording;
std::atomic<State> state{State::closed};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

// Only the thread that forked is left in the child: nobody is in the middle of anything there.
void in_the_child() {
  recording.forget();
  state.store(State::closed);
}

// At most 64 KiB of it; without streams, which would bring half of a C++ library.
std::string content(const char* file) {
  std::string text(64U << 10, '\0');
  const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
  const ssize_t got = descriptor < 0 ? 0 : ::read(descriptor, text.data(), text.size());
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

// Of the program, as a part of a file's name.
std::string short_name() {
  std::string name = content("/proc/self/comm");
  while (!name.empty() && name.back() == '\n') {
    name.pop_back();
  }
  const auto strange = [](char one) {
    return std::isalnum(static_cast<unsigned char>(one)) == 0 && one != '-';
  };
  std::ranges::replace_if(name, strange, '_');
  return name.empty() ? "unknown" : name;
}

std::uint64_t size_to_reserve() {
  const char* const text = std::getenv(size_variable);  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t bytes = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  return bytes == 0 ? usual_bytes : bytes;
}

Full when_full() {
  const char* const text = std::getenv(full_variable);  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr && std::string_view{text} == "ring" ? Full::ring : Full::stop;
}

bool open_recording() {
  const char* const folder = std::getenv(folder_variable);  // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr || *folder == '\0') {
    return false;
  }
  static const int registered = ::pthread_atfork(nullptr, nullptr, in_the_child);
  if (registered != 0) {
    return false;
  }
  // The first zero byte ends the names; arguments are separated by zeros, too.
  std::string names{event_names()};
  names.append(1, '\0').append(content("/proc/self/cmdline"));
  const std::string path = std::string{folder} + '/' + short_name() + '.';
  const std::string number = std::to_string(::getpid());
  std::string problem;
  // A program that another one becomes (exec) has the same number.
  for (int times = 0; times < 100; ++times) {
    std::string file = path + number;
    if (times > 0) {
      file.append("-").append(std::to_string(times));
    }
    problem = recording.create(file + ".taktrecord", size_to_reserve(), names, when_full());
    if (problem.empty() || errno != EEXIST) {
      break;
    }
  }
  if (!problem.empty()) {
    std::fprintf(stderr, "takt record: nothing of process %s is recorded: %s\n", number.c_str(),
                 problem.c_str());
  }
  if (problem.empty()) {
    recording.follow(std::string{folder} + '/' + control_file);
  }
  return problem.empty();
}

// Other threads' events while the file is made are not recorded: it is before their first node.
bool ready() noexcept {
  State now = state.load(std::memory_order_acquire);
  if (now == State::closed && state.compare_exchange_strong(now, State::opening)) {
    try {
      now = open_recording() ? State::open : State::off;
    } catch (...) {  // out of memory: the program goes on without being recorded
      now = State::off;
    }
    state.store(now, std::memory_order_release);
  }
  return now == State::open;
}

}  // namespace

void* Next::find() noexcept {
  if (!asked_.load(std::memory_order_acquire)) {
    found_.store(::dlsym(RTLD_NEXT, name_), std::memory_order_relaxed);
    asked_.store(true, std::memory_order_release);
  }
  return found_.load(std::memory_order_relaxed);
}

void record(std::uint16_t event, const Arguments& arguments, Kind kind) noexcept {
  if (ready()) {
    recording.append(event, arguments, kind);
  }
}

}  // namespace takt_record
