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
#include <optional>
#include <string>
#include <string_view>
#include <takt/os/event.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>

namespace {

using diagnostic_msgs::msg::DiagnosticArray;
using namespace std::chrono_literals;

std::string in_quotes(std::string_view text) {
  std::string result{'"'};
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      result += escape;
    } else {
      result += c;
    }
  }
  result += '"';
  return result;
}

std::string line(const DiagnosticArray& array) {
  const auto& stamp = array.header.stamp;
  std::string text =
      "{\"stamp_ns\": " + std::to_string(stamp.sec * 1'000'000'000LL + stamp.nanosec) +
      ", \"status\": [";
  for (const auto& status : array.status) {
    text += text.back() == '[' ? "" : ", ";
    text += "{\"level\": " + std::to_string(static_cast<int>(status.level)) +
            ", \"name\": " + in_quotes(status.name) +
            ", \"message\": " + in_quotes(status.message) +
            ", \"hardware_id\": " + in_quotes(status.hardware_id) + ", \"values\": [";
    for (const auto& pair : status.values) {
      text += text.back() == '[' ? "" : ", ";
      text += "[" + in_quotes(pair.key) + ", " + in_quotes(pair.value) + "]";
    }
    text += "]}";
  }
  return text + "]}";
}

// False when nobody reads any more.
bool print(const std::string& text) {
  return std::puts(text.c_str()) >= 0 && std::fflush(stdout) == 0;
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
      read = print("{\"publishers\": " + std::to_string(now) + "}");
    }
    while (read && in->take(message, info)) {
      read = print(line(message));
    }
    if (read) static_cast<void>(wake.wait_until(takt::os::now() + 200ms));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "diagnostics_to_json: %s\n", error.what());
  return 1;
}
