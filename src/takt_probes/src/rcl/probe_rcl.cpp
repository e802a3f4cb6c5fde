// SPDX-License-Identifier: Apache-2.0
//
// ROS 2 through takt_rcl, the timer of rcl, and that of Takt's executor. The transports shm and udp
// are chosen by the environment (for Fast DDS by its profiles); the probe runs over whatever is set
// up and only says what was asked for.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <takt/rcl/context.hpp>
#include <takt/rcl/error.hpp>
#include <takt/rcl/node.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "executor_timer.hpp"
#include "inbox.hpp"
#include "meeting.hpp"
#include "rcl_timer.hpp"
#include "rcl_versions.hpp"
#include "shared_memory.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;
using takt_interfaces::msg::Sample;

takt::QoS qos_of(const Options& options) {
  takt::QoS qos{options.depth};
  if (options.reliability == Reliability::best_effort) {
    qos.best_effort();
  }
  if (options.durability == Durability::transient_local) {
    qos.transient_local();
  }
  rmw_qos_profile_t profile = qos.get_rmw_qos_profile();
  if (options.history == History::keep_all) {
    profile.history = RMW_QOS_POLICY_HISTORY_KEEP_ALL;  // takt::QoS leaves out what has no bound
  }
  return takt::QoS{profile};
}

Failure failure_of(const takt::RclError& error, const char* fix) {
  return Failure{
      {.what = error.operation() + " (" + error.where() + ")", .why = error.reason(), .fix = fix}};
}

// Over shared memory alone there is no node where it has no room.
takt::Node node_of(const takt::Context& context, const Options& options, Role role) {
  const std::string name = "probe_" + std::string{name_of(role)} + "_" + std::to_string(getpid());
  try {
    return takt::Node{context, name};
  } catch (const takt::RclError& error) {
    if (options.transport != "shm") {
      throw;
    }
    throw failure_of(error, free_shared_memory);
  }
}

class RclLink : public Link {
 public:
  RclLink(const takt::Context& context, const Options& options, Role role, os::StopFlag& stop)
      : options_{options},
        role_{role},
        stop_{stop},
        inbox_{stop},
        node_{node_of(context, options, role)},
        in_{node_.create_subscription<Sample>(
            is_active(role) ? topic_back(options) : topic_there(options), qos_of(options))} {
    outgoing_.payload.resize(options.payload_bytes);
    taken_.payload.resize(options.payload_bytes);
    in_->set_on_new_message_callback(
        [this](std::size_t messages) noexcept { inbox_.announce(messages); });
    if (is_active(role)) {
      out_ = node_.create_publisher<Sample>(topic_there(options), qos_of(options));
    }
  }

  ~RclLink() override { in_->clear_on_new_message_callback(); }

  bool connect(os::TimePoint deadline) override {
    const auto found = [this] { return in_->get_publisher_count(); };
    const auto heard = [this] { return out_->get_subscription_count(); };
    if (is_active(role_)) {
      const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
      return wait_for_meeting(options_, stop_, deadline,
                              [&] { return found() >= wanted && heard() >= wanted; });
    }
    if (!wait_for_meeting(options_, stop_, deadline, [&] { return found() >= 1; })) {
      return false;
    }
    out_ = node_.create_publisher<Sample>(topic_back(options_), qos_of(options_));
    return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
  }

  void leave() noexcept override { out_.reset(); }

  std::size_t peers() const noexcept override { return in_->get_publisher_count(); }

  bool send(const Message& message) noexcept override {
    outgoing_.sequence = message.sequence;
    outgoing_.intended_ns = message.intended.time_since_epoch().count();
    outgoing_.sent_ns = message.sent.time_since_epoch().count();
    outgoing_.last = message.last;
    return done(out_->publish(outgoing_));
  }

  bool reply() noexcept override { return done(out_->publish(taken_)); }

  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    using std::chrono::nanoseconds;
    while (inbox_.await(deadline)) {
      takt::MessageInfo info;
      const takt::Status status = in_->take(taken_, info);
      if (status) {
        return Message{.sequence = taken_.sequence,
                       .intended = os::TimePoint{nanoseconds{taken_.intended_ns}},
                       .sent = os::TimePoint{nanoseconds{taken_.sent_ns}},
                       .last = taken_.last};
      }
      if (!status.nothing_taken()) {
        done(status);
        return {};
      }
    }
    return {};
  }

  std::optional<os::Shortfall> problem() const override {
    if (failure_) {
      return {};
    }
    return os::Shortfall{.what = "the middleware could not send or take a message",
                         .why = std::string{failure_.name()} + " " + takt::last_error(),
                         .fix = "look at the middleware's own output above"};
  }

  std::optional<os::Shortfall> detour() const override { return detour_of(options_); }

 private:
  bool done(takt::Status status) noexcept {
    if (!status) {
      failure_ = status;
    }
    return static_cast<bool>(status);
  }

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  Inbox inbox_;
  takt::Node node_;
  std::shared_ptr<takt::Subscription<Sample>> in_;
  std::shared_ptr<takt::Publisher<Sample>> out_;
  Sample outgoing_;
  Sample taken_;
  takt::Status failure_;
};

class Rcl : public Stack {
 public:
  std::string_view name() const override { return "rcl"; }

  std::vector<Capability> capabilities() const override {
    const std::string wire = speaks_rtps() ? rtps : "";
    std::vector<Capability> all;
    for (const auto& [kind, passive, active] :
         {std::tuple{Kind::pingpong, Role::pong, Role::ping},
          std::tuple{Kind::pubsub, Role::subscriber, Role::publisher}}) {
      all.push_back({.kind = kind, .transport = "shm", .roles = {passive, active}});
      all.push_back({.kind = kind, .transport = "udp", .roles = {passive, active}, .wire = wire});
      all.push_back({.kind = kind, .transport = "process", .roles = {Role::both}});
    }
    for (Capability& one : all) {
      one.durabilities = all_durabilities;
      one.histories = all_histories;
    }
    all.push_back(timer(Kind::timer_oneshot, "rcl_timer", {Wait::idle, Wait::busy}, true));
    all.push_back(timer(Kind::timer_cyclic, "rcl_timer", {Wait::idle}, true));
    all.push_back(timer(Kind::timer_cyclic, "executor", {Wait::idle}, false));
    return all;
  }

  void check(const Options& options) const override {
    if (options.transport == "executor" && options.policy == os::SchedulingPolicy::rr) {
      throw UsageError{{.what = "--policy rr",
                        .why = "the threads of Takt's executor run at fifo",
                        .fix = "give --policy fifo, or --transport rcl_timer"}};
    }
  }

  std::unique_ptr<Timer> open_timer(const Options& options, os::StopFlag& stop) override {
    if (options.transport == "executor") {
      return std::make_unique<ExecutorTimer>(options, stop);
    }
    return std::make_unique<RclTimer>(options, stop);
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    try {
      if (!context_) {
        // Transport `process` is the way through the middleware, not the pointer's.
        context_.emplace(takt::ContextOptions{.use_intra_process = false});
      }
      return std::make_unique<RclLink>(*context_, options, role, stop);
    } catch (const takt::RclError& error) {
      throw failure_of(error,
                       "check --topic and the ROS environment (RMW_IMPLEMENTATION, profiles)");
    }
  }

  void close() override { context_.reset(); }

  std::map<std::string, std::string> versions() const override { return rcl_versions(); }

 private:
  static Capability timer(Kind kind, std::string transport, std::vector<Wait> waits, bool reports) {
    return {.kind = kind,
            .transport = std::move(transport),
            .roles = {Role::both},
            .max_payload_bytes = 0,
            .waits = std::move(waits),
            .reports = reports};
  }

  std::optional<takt::Context> context_;
};

}  // namespace

int main(int argc, char** argv) {
  Rcl rcl;
  return run(argc, argv, rcl);
}
