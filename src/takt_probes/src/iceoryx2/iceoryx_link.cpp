// SPDX-License-Identifier: Apache-2.0
#include "iceoryx_link.hpp"

#include <takt_iceoryx2.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "crate_link.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/timer.hpp"

namespace takt::probe {
namespace {

constexpr const char* root_variable = "TAKT_ICEORYX2_ROOT";

class IceoryxTopics {
 public:
  static constexpr const char* name = "iceoryx2";
  static constexpr const char* fix = "look at the other end, and at the room in /dev/shm";

  explicit IceoryxTopics(os::StopFlag& stop) : stop_{stop} {}

  static const std::string& named(const std::string& topic) { return topic; }

  static OpenLink open(const Options& options, Role /*role*/, const std::string& topic) {
    const takt_iceoryx2_settings settings{.topic = topic.c_str(),
                                          .root = std::getenv(root_variable),
                                          .depth = options.depth,
                                          .payload_bytes = options.payload_bytes,
                                          .ends = options.subscribers};
    Why why{};
    OpenLink link{takt_iceoryx2_open(&settings, why.data(), why.size())};
    if (!link) {
      throw refused(topic, why);
    }
    return link;
  }

  static Failure refused(const std::string& /*topic*/, const Why& why) {
    return Failure{{.what = "iceoryx2 could not open its ends of the topic",
                    .why = why.data(),
                    .fix = "free space in /dev/shm (df /dev/shm; ./takt clean), give all ends the "
                           "same --depth and --subscribers, and check --topic and " +
                           std::string{root_variable} + " (short: it is in names of sockets)"}};
  }

  bool await(takt_link* link, os::TimePoint deadline) noexcept {
    using namespace std::chrono_literals;
    const auto left = deadline - os::now();
    if (left <= 0ns || stop_.requested()) {
      return false;
    }
    // A stop request wakes nobody.
    const auto slice = std::min<std::chrono::nanoseconds>(left, longest_wait);
    return takt_iceoryx2_wait(link, static_cast<std::uint64_t>(slice.count()));
  }

 private:
  os::StopFlag& stop_;
};

}  // namespace

std::unique_ptr<Link> open_iceoryx2(const Options& options, Role role, os::StopFlag& stop) {
  return std::make_unique<CrateLink<IceoryxTopics>>(options, role, stop);
}

}  // namespace takt::probe
