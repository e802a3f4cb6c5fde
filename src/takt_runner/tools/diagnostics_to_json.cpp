// SPDX-License-Identifier: Apache-2.0
//
// Prints what arrives on /diagnostics, one JSON object a line, until a signal ends it or nobody
// reads any more: for `takt top`, whose Python needs no ROS then.
//
//   {"publishers": 1}                                     first of all, and whenever it changes
//   {"stamp_ns": …, "status": [{"level": 0, "name": …, "message": …, "hardware_id": …,
//     "values": [["key", "value"], …]}, …]}               each message
#include <chrono>
#include <cstdio>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <takt/os/event.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>
#include <utility>

namespace {

using Json = nlohmann::ordered_json;
using diagnostic_msgs::msg::DiagnosticArray;
using namespace std::chrono_literals;

// Text that is no UTF-8 would be no JSON: what is wrong in it is replaced.
std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json document(const DiagnosticArray& array) {
  Json all = Json::array();
  for (const auto& status : array.status) {
    Json values = Json::array();
    for (const auto& pair : status.values) {
      values.push_back(Json::array({pair.key, pair.value}));
    }
    all.push_back({{"level", static_cast<int>(status.level)},
                   {"name", status.name},
                   {"message", status.message},
                   {"hardware_id", status.hardware_id},
                   {"values", std::move(values)}});
  }
  const auto& stamp = array.header.stamp;
  return {{"stamp_ns", stamp.sec * 1'000'000'000LL + stamp.nanosec}, {"status", std::move(all)}};
}

// False when nobody reads any more.
bool print(const Json& document) {
  return std::puts(text_of(document).c_str()) >= 0 && std::fflush(stdout) == 0;
}

}  // namespace

int main(int argc, char** argv) try {
  takt::os::end_with_parent();
  const takt::Context context{argc, argv};
  takt::os::Event wake;  // before the subscription, whose callback uses it
  takt::os::StopFlag stop;
  stop.attach(wake);
  const takt::os::StopOnSignal on_signal{stop};
  const takt::Node node{context, "takt_top"};
  const auto in = node.create_subscription<DiagnosticArray>("/diagnostics", takt::QoS{10});
  in->set_on_new_message_callback([&wake](std::size_t) noexcept { wake.notify(); });

  DiagnosticArray message;
  takt::MessageInfo info;
  std::optional<std::size_t> publishers;
  bool read = true;
  while (read && !stop.requested()) {
    if (const std::size_t now = in->get_publisher_count(); publishers != now) {
      publishers = now;
      read = print({{"publishers", now}});
    }
    while (read && in->take(message, info)) {
      read = print(document(message));
    }
    if (read) {
      static_cast<void>(wake.wait_until(takt::os::now() + 200ms));
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "diagnostics_to_json: %s\n", error.what());
  return 1;
}
