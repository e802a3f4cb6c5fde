// SPDX-License-Identifier: Apache-2.0
//
// played_events WHAT: calls tracetools as rclcpp does for a node "talker" with a timer of 10 ms
// that publishes "/chatter", and a node "listener" with a subscription. WHAT: "plain", "intra" (the
// subscription of messages within the process), "threads" (a timer in each of four threads), "fork"
// (the same in a child, after the parent's), "exec" (becomes itself with "plain"), "killed" (kills
// itself after the events), "many" (a hundred thousand calls), "many-killed" (both), "long" (until
// it is ended). "every MS": one timer with this period, for two seconds.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tracetools/tracetools.h"

namespace {

// Addresses stand for what rclcpp has there.
constexpr char places[64] = {};

const void* address(int number) {
  return places + number;
}

void node(int number, const char* name) {
  ros_trace_rcl_node_init(address(number), address(number + 1), name, "/");
}

void timer(int number, int of_node, std::int64_t period) {
  ros_trace_rcl_timer_init(address(number), period);
  ros_trace_rclcpp_timer_callback_added(address(number), address(number + 1));
  ros_trace_rclcpp_timer_link_node(address(number), address(of_node));
}

void burn(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

void subscribe(bool intra) {
  ros_trace_rcl_subscription_init(address(20), address(4), address(21), "/chatter", 7);
  if (intra) {  // in this order
    ros_trace_rclcpp_subscription_callback_added(address(24), address(25));
    ros_trace_rclcpp_subscription_init(address(20), address(24));
  }
  ros_trace_rclcpp_subscription_init(address(20), address(22));
  ros_trace_rclcpp_subscription_callback_added(address(22), address(23));
}

void call(int callback, bool intra, std::chrono::microseconds time) {
  ros_trace_callback_start(address(callback), intra);
  burn(time);
  ros_trace_callback_end(address(callback));
}

void talk(int times, bool intra) {
  ros_trace_rcl_init(address(0));
  node(2, "talker");
  node(4, "listener");
  timer(10, 2, 10'000'000);
  ros_trace_rcl_publisher_init(address(30), address(2), address(31), "/chatter", 10);
  subscribe(intra);
  for (int i = 0; i < times; ++i) {
    ros_trace_callback_start(address(11), false);
    burn(std::chrono::microseconds{300});
    if (intra) {
      ros_trace_rclcpp_intra_publish(address(30), address(40));
    } else {
      ros_trace_rcl_publish(address(30), address(40));
      ros_trace_rmw_publish(address(31), address(40), i);  // its number stands for the time
    }
    ros_trace_callback_end(address(11));
    if (!intra) {
      ros_trace_rmw_take(address(21), address(41), i, true);
    }
    call(intra ? 25 : 23, intra, std::chrono::microseconds{100});
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

void threads() {
  node(2, "talker");
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) {
    timer(10 + 2 * i, 2, 10'000'000 * (i + 1));
  }
  for (int i = 0; i < 4; ++i) {
    all.emplace_back([i] {
      for (int k = 0; k < 500; ++k) {
        call(11 + 2 * i, false, std::chrono::microseconds{1});
      }
    });
  }
  for (std::thread& one : all) {
    one.join();
  }
}

void every(std::chrono::milliseconds period) {
  ros_trace_rcl_init(address(0));
  node(2, "ticker");
  timer(10, 2, std::chrono::nanoseconds{period}.count());
  const auto begin = std::chrono::steady_clock::now();
  for (auto due = begin + period; due < begin + std::chrono::seconds{2}; due += period) {
    std::this_thread::sleep_until(due);
    call(11, false, std::chrono::microseconds{100});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "plain";
  if (what == "threads") {
    threads();
    return 0;
  }
  if (what == "every" && argc > 2) {
    every(std::chrono::milliseconds{std::stoi(argv[2])});
    return 0;
  }
  talk(what == "long" ? 100'000 : 20, what == "intra");
  if (what.starts_with("many")) {
    for (int i = 0; i < 100'000; ++i) {
      call(11, false, std::chrono::microseconds{0});
    }
  }
  if (what == "fork") {
    const pid_t child = ::fork();
    if (child == 0) {
      talk(5, false);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  if (what == "exec") {
    ::execl(argv[0], argv[0], "plain", nullptr);
    return 1;
  }
  if (what.ends_with("killed")) {
    ::kill(::getpid(), SIGKILL);
  }
  return 0;
}
