// SPDX-License-Identifier: Apache-2.0
//
// The machine's own limits: what bare timers, a hand-over between threads and the kernel's network
// stack cost. Every other stack is judged against these.
#include "futex_link.hpp"
#include "raw_timers.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"
#include "timed_udp_link.hpp"
#include "udp_link.hpp"
#include "xdp_link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

class Raw : public Stack {
 public:
  std::string_view name() const override { return "raw"; }

  std::vector<Capability> capabilities() const override {
    auto without = without_qos("it has no QoS", "it has no QoS");
    without["depth"] = "it has no QoS";
    auto beside = without;
    beside["queue"] = beside["link"] = "frames of AF_XDP bypass the queues of the interface";
    auto at_times = without;
    at_times["queue"] = "messages with a time have a queue of their own (etf)";
    return {
        {.kind = Kind::wakeup,
         .transport = "nanosleep",
         .roles = {Role::both},
         .max_payload_bytes = 0},
        {.kind = Kind::supply, .transport = "clock", .roles = {Role::both}, .max_payload_bytes = 0},
        timer(Kind::timer_oneshot, "nanosleep"),
        timer(Kind::timer_oneshot, "timerfd", {Wait::idle, Wait::busy}),
        timer(Kind::timer_oneshot, "futex"),
        timer(Kind::timer_cyclic, "nanosleep"),
        timer(Kind::timer_cyclic, "timerfd"),
        timer(Kind::timer_cyclic, "futex"),
        {.kind = Kind::pingpong, .transport = "futex", .roles = {Role::both}, .without = without},
        {.kind = Kind::pingpong,
         .transport = "udp",
         .roles = {Role::pong, Role::ping},
         .max_payload_bytes = max_udp_payload_bytes,
         .wire = "raw",
         .both_too = true,
         .without = without},
        {.kind = Kind::pingpong,
         .transport = "xdp",
         .roles = {Role::pong, Role::ping},
         .max_payload_bytes = max_xdp_payload_bytes,
         .wire = "raw",
         .apart = true,
         .without = beside},
        {.kind = Kind::pingpong,
         .transport = "txtime",
         .roles = {Role::pong, Role::ping},
         .max_payload_bytes = max_timed_payload_bytes,
         .wire = "raw",
         .apart = true,
         .without = at_times}};
  }

  void check(const Options& options) const override {
    if (options.transport == "xdp" || options.transport == "txtime") {
      parse_address(options.topic);
    }
    if (options.transport == "udp" && (options.role != Role::both || has_address(options))) {
      parse_address(options.topic);
    }
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    if (options.transport == "futex") {
      if (!there_) {
        there_ = std::make_shared<FutexLane>(options.payload_bytes);
        back_ = std::make_shared<FutexLane>(options.payload_bytes);
      }
      return role == Role::ping ? std::make_unique<FutexLink>(there_, back_, stop)
                                : std::make_unique<FutexLink>(back_, there_, stop);
    }
    if (options.transport == "xdp") {
      return std::make_unique<XdpLink>(role, parse_address(options.topic), options.payload_bytes,
                                       options.dscp.value_or(0), stop);
    }
    if (options.transport == "txtime" && role == Role::ping) {
      return std::make_unique<TimedUdpLink>(parse_address(options.topic), options.payload_bytes,
                                            options.period, stop);
    }
    if (options.role != Role::both || has_address(options)) {
      return std::make_unique<UdpLink>(role, parse_address(options.topic), options.payload_bytes,
                                       stop);
    }
    // Both roles in this process and no address given: a free port of the loopback interface. The
    // pong is opened first.
    if (role == Role::pong) {
      auto pong = std::make_unique<UdpLink>(role, any_loopback_port(), options.payload_bytes, stop);
      pong_address_ = pong->bound_to();
      return pong;
    }
    return std::make_unique<UdpLink>(role, pong_address_, options.payload_bytes, stop);
  }

  std::unique_ptr<Timer> open_timer(const Options& options, os::StopFlag& stop) override {
    if (options.transport == "timerfd") {
      return std::make_unique<TimerfdTimer>(options, stop);
    }
    if (options.transport == "futex") {
      return std::make_unique<FutexTimer>(stop);
    }
    return std::make_unique<NanosleepTimer>(stop);
  }

 private:
  static Capability timer(Kind kind, std::string transport,
                          std::vector<Wait> waits = {Wait::idle}) {
    return {.kind = kind,
            .transport = std::move(transport),
            .roles = {Role::both},
            .max_payload_bytes = 0,
            .waits = std::move(waits)};
  }

  static bool has_address(const Options& options) { return options.topic != Options{}.topic; }

  static Address any_loopback_port() {
    Address address = parse_address("127.0.0.1:1");
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
    return address;
  }

  std::shared_ptr<FutexLane> there_;
  std::shared_ptr<FutexLane> back_;
  Address pong_address_;
};

}  // namespace

int main(int argc, char** argv) {
  Raw raw;
  return run(argc, argv, raw);
}
