// SPDX-License-Identifier: Apache-2.0
//
// Sends back what arrives: text_in to text_out (std_msgs/String), bytes_in to bytes_out
// (std_msgs/UInt8MultiArray). Two subscriptions, one thread, no wait set. Ends with Ctrl-C.
// Usage: echo [--ros-args …]
#include <cstdio>
#include <memory>
#include <std_msgs/msg/string.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>
#include <string>
#include <takt/os/event.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/node.hpp>

namespace {

template <class MessageT>
class Echo {
 public:
  Echo(const takt::Node& node, const std::string& topic, takt::os::Event& wake)
      : out_{node.create_publisher<MessageT>(topic + "_out", takt::QoS{1000})},
        in_{node.create_subscription<MessageT>(topic + "_in", takt::QoS{1000})} {
    in_->set_on_new_message_callback([&wake](std::size_t) noexcept { wake.notify(); });
  }

  void answer() noexcept {
    while (in_->take(message_, info_)) {
      if (!out_->publish(message_)) std::fprintf(stderr, "echo: %s\n", takt::last_error());
    }
  }

 private:
  std::shared_ptr<takt::Publisher<MessageT>> out_;
  std::shared_ptr<takt::Subscription<MessageT>> in_;
  MessageT message_;  // taken into again and again: its memory is kept
  takt::MessageInfo info_;
};

}  // namespace

int main(int argc, char** argv) try {
  takt::os::Event wake;
  takt::os::StopFlag stop;
  stop.attach(wake);
  const takt::os::StopOnSignal on_signal{stop};
  const takt::Context context{argc, argv};
  const takt::Node node{context, "echo"};
  Echo<std_msgs::msg::String> text{node, "text", wake};
  Echo<std_msgs::msg::UInt8MultiArray> bytes{node, "bytes", wake};
  while (!stop.requested()) {
    wake.wait();
    text.answer();
    bytes.answer();
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "echo: %s\n", error.what());
  return 1;
}
