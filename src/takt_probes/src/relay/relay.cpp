// SPDX-License-Identifier: Apache-2.0
#include "relay.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace takt::relay {
namespace {

using namespace std::chrono_literals;

constexpr int at_once = 64;  // frames of an interface before the other one has its turn
constexpr std::chrono::nanoseconds look{100ms};  // a stop request may come just before a sleep

}  // namespace

Relay::Relay(const std::array<std::string, 2>& interfaces, const Impairment& impairment,
             std::uint64_t seed, std::size_t slots)
    : ports_{PacketPort{interfaces[0]}, PacketPort{interfaces[1]}},
      chances_{Chance{impairment, seed}, Chance{impairment, seed + 1}},
      line_{slots} {}

End Relay::run(const os::StopFlag& stop, os::TimePoint end) noexcept {
  while (!stop.requested()) {
    if (os::now() >= end) {
      return End::time_is_up;
    }
    if (ports_[0].broken() || ports_[1].broken()) {
      return End::interface_gone;
    }
    wait(end);
    take(0);
    take(1);
    send_due();
  }
  return End::stopped;
}

const std::array<Counters, 2>& Relay::counters() noexcept {
  for (std::size_t from = 0; from < 2; ++from) {
    counters_.at(from).missed += ports_.at(from).missed();
  }
  return counters_;
}

void Relay::wait(os::TimePoint end) noexcept {
  os::TimePoint wake = std::min(end, os::now() + look);
  if (!line_.empty()) {
    wake = std::min(wake, line_.first().due);
  }
  const timespec rest =
      os::to_timespec(os::TimePoint{std::max(wake - os::now(), std::chrono::nanoseconds{0})});
  std::array<pollfd, 2> sockets{{{.fd = ports_[0].descriptor(), .events = POLLIN, .revents = 0},
                                 {.fd = ports_[1].descriptor(), .events = POLLIN, .revents = 0}}};
  ppoll(sockets.data(), sockets.size(), &rest, nullptr);
}

void Relay::take(std::uint8_t from) noexcept {
  Counters& counters = counters_[from];
  for (int frame = 0; frame < at_once; ++frame) {
    const auto slot = line_.free_slot();
    std::byte* into = slot ? line_.bytes(*slot) : spare_.data();
    const auto received = ports_[from].receive({into, DelayLine::slot_bytes});
    if (!received) {
      return;
    }
    ++counters.received;
    if (chances_[from].loses()) {
      ++counters.lost;
    } else if (!slot) {
      ++counters.overflowed;
    } else {
      line_.push({.due = received->arrived + chances_[from].delay(),
                  .arrived = received->arrived,
                  .slot = *slot,
                  .length = received->length,
                  .direction = from});
    }
  }
}

void Relay::send_due() noexcept {
  while (!line_.empty() && line_.first().due <= os::now()) {
    const Frame frame = line_.first();
    Counters& counters = counters_.at(frame.direction);
    const os::TimePoint sent = os::now();
    if (ports_.at(1U - frame.direction).send({line_.bytes(frame.slot), frame.length})) {
      ++counters.forwarded;
      counters.late.record(sent - frame.due);
      counters.delay.record(sent - frame.arrived);
    } else {
      ++counters.unsent;
    }
    line_.pop();
  }
}

}  // namespace takt::relay
