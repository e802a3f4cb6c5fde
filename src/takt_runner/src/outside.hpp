// SPDX-License-Identifier: Apache-2.0
//
// When the world outside writes its topics: `external_burst` messages at once, each time so long
// after the ones before that there are no more of them than one a period.
#pragma once

#include <algorithm>
#include <cstdint>
#include <takt/application/application.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/saturating.hpp>
#include <takt/os/stop.hpp>
#include <takt/trace/current.hpp>
#include <takt/trace/recorder.hpp>
#include <vector>

namespace takt::runner {

struct Burst {
  explicit Burst(const application::Topic& topic)
      : messages{1 + topic.external_jitter / topic.external_period},
        distance{os::mul_sat(topic.external_period, messages)} {}

  std::int64_t messages;
  std::chrono::nanoseconds distance;  // of two bursts
};

// Publishes until `end`, or until a stop is requested, on the calling thread. Each of `topics` has
// a burst and an outlet.
template <class Topics>
void feed_topics(Topics& topics, os::TimePoint start, os::TimePoint end, const os::StopFlag& stop,
                 trace::Recorder recorder) {
  std::vector<os::TimePoint> next(topics.size(), start);
  std::uint64_t sent = 0;
  while (!topics.empty()) {
    const auto first = std::ranges::min_element(next);
    if (*first >= end || stop.wait_until(*first)) {
      return;
    }
    auto& topic = topics[static_cast<std::size_t>(first - next.begin())];
    for (std::int64_t left = topic.burst.messages; left > 0; --left) {
      const trace::CurrentJob current{recorder, trace::no_task, sent++};
      topic.outlet.publish(*first);
    }
    *first = os::add_sat(*first, topic.burst.distance);
  }
}

}  // namespace takt::runner
