// SPDX-License-Identifier: Apache-2.0
#include "iceoryx_link.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "meeting.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;
using Why = std::array<char, 500>;

constexpr const char* root_variable = "TAKT_ICEORYX2_ROOT";

Failure refused(const Why& why) {
  return Failure{{.what = "iceoryx2 could not open its ends of the topic",
                  .why = why.data(),
                  .fix = "free space in /dev/shm (df /dev/shm; ./takt clean), give all ends the "
                         "same --depth and --subscribers, and check --topic and " +
                         std::string{root_variable} + " (short: it is in names of sockets)"}};
}

}  // namespace

IceoryxLink::IceoryxLink(const Options& options, Role role, os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop} {
  const std::string topic = is_active(role) ? topic_back(options) : topic_there(options);
  const takt_iceoryx2_settings settings{.topic = topic.c_str(),
                                        .root = std::getenv(root_variable),
                                        .depth = options.depth,
                                        .payload_bytes = options.payload_bytes,
                                        .ends = options.subscribers};
  Why why{};
  link_.reset(takt_iceoryx2_open(&settings, why.data(), why.size()));
  if (!link_) {
    throw refused(why);
  }
  if (is_active(role)) {
    open_writer(topic_there(options));
  }
}

void IceoryxLink::open_writer(const std::string& topic) {
  Why why{};
  if (!takt_iceoryx2_open_writer(link_.get(), topic.c_str(), why.data(), why.size())) {
    throw refused(why);
  }
}

bool IceoryxLink::connect(os::TimePoint deadline) {
  const auto heard = [this] { return takt_iceoryx2_readers(link_.get()); };
  if (is_active(role_)) {
    const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
    return wait_for_meeting(options_, stop_, deadline,
                            [&] { return peers() >= wanted && heard() >= wanted; });
  }
  if (!wait_for_meeting(options_, stop_, deadline, [&] { return peers() >= 1; })) {
    return false;
  }
  open_writer(topic_back(options_));
  return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
}

bool IceoryxLink::send(const Message& message) noexcept {
  const takt_iceoryx2_head head{.sequence = message.sequence,
                                .intended_ns = message.intended.time_since_epoch().count(),
                                .sent_ns = message.sent.time_since_epoch().count(),
                                .last = message.last};
  return takt_iceoryx2_send(link_.get(), &head);
}

std::optional<Message> IceoryxLink::receive(os::TimePoint deadline) noexcept {
  using std::chrono::nanoseconds;
  while (true) {
    takt_iceoryx2_head head{};
    const int taken = takt_iceoryx2_take(link_.get(), &head);
    if (taken > 0) {
      return Message{.sequence = head.sequence,
                     .intended = os::TimePoint{nanoseconds{head.intended_ns}},
                     .sent = os::TimePoint{nanoseconds{head.sent_ns}},
                     .last = head.last};
    }
    const auto left = deadline - os::now();
    if (taken < 0 || left <= 0ns || stop_.requested()) {
      return {};
    }
    const auto slice = std::min<nanoseconds>(left, longest_wait);  // a stop request wakes nobody
    if (!takt_iceoryx2_wait(link_.get(), static_cast<std::uint64_t>(slice.count()))) {
      return {};
    }
  }
}

std::optional<os::Shortfall> IceoryxLink::problem() const {
  Why why{};
  if (!takt_iceoryx2_problem(link_.get(), why.data(), why.size())) {
    return {};
  }
  return os::Shortfall{.what = "iceoryx2 could not send or take a message",
                       .why = why.data(),
                       .fix = "look at the other end, and at the room in /dev/shm"};
}

}  // namespace takt::probe
