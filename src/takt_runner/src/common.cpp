// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace takt::runner {

using namespace std::chrono_literals;

Common::Common(std::size_t topics, std::size_t processes, Elsewhere elsewhere, std::size_t devices)
    : topics_{topics},
      processes_{processes},
      elsewhere_{std::move(elsewhere)},
      bytes_{sizeof(Meeting) + (topics + devices) * sizeof(Counter)} {
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error{errno, std::generic_category(), "no shared memory"};
  }
  meeting_ = std::construct_at(static_cast<Meeting*>(memory));
  sequences_ = reinterpret_cast<Counter*>(meeting_ + 1);
  for (std::size_t i = 0; i < topics; ++i) {
    std::construct_at(sequences_ + i, elsewhere_.first_sequence);
  }
  for (std::size_t i = 0; i < devices; ++i) {
    std::construct_at(&device(i), 0);
  }
}

Common::~Common() {
  munmap(meeting_, bytes_);
}

std::optional<os::TimePoint> Common::meet(const os::StopFlag& stop) {
  const bool last = meeting_->ready.fetch_add(1) + 1 == processes_;
  if (last) {
    agree_here();
  }
  while (meeting_->start.load() == 0) {
    if (last) {
      look_at_the_meeting();
    }
    if (failed()) {
      return {};  // who failed says why
    }
    if (stop.wait_until(os::now() + 2ms)) {
      return {};
    }
  }
  return os::TimePoint{std::chrono::nanoseconds{meeting_->start.load()}};
}

void Common::agree_here() {
  if (!elsewhere_.meeting.empty()) {
    auto ready = elsewhere_.meeting;
    std::ofstream{ready += ".ready"} << processes_ << '\n';
    return;
  }
  // For what each does between knowing the start and the start; and for the middleware's endpoints
  // to find each other, which goes on at low priority when all topics have their readers already.
  const auto margin = 500ms + 60ms * static_cast<std::int64_t>(processes_ - 1);
  meeting_->start.store((os::now() + margin).time_since_epoch().count());
}

void Common::look_at_the_meeting() {
  std::ifstream file{elsewhere_.meeting};
  std::int64_t start = 0;
  if (!(file >> start)) {
    return;  // it is not there yet
  }
  if (os::TimePoint{std::chrono::nanoseconds{start}} <= os::now()) {
    throw std::runtime_error{"the start that the hosts agreed on was over when it was heard of"};
  }
  meeting_->start.store(start);
}

void Common::fail() noexcept {
  meeting_->failed.store(true);
}

bool Common::failed() const noexcept {
  return meeting_->failed.load();
}

}  // namespace takt::runner
