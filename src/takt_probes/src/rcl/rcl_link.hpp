// SPDX-License-Identifier: Apache-2.0
//
// One end of a connection through takt_rcl, for a content of its messages (ros2_content.hpp).
#pragma once

#include <unistd.h>

#include <cerrno>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <takt/rcl/context.hpp>
#include <takt/rcl/error.hpp>
#include <takt/rcl/node.hpp>

#include "inbox.hpp"
#include "meeting.hpp"
#include "pool_memory.hpp"
#include "ros2_content.hpp"
#include "shared_memory.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

inline takt::QoS qos_of(const Options& options) {
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

inline Failure failure_of(const takt::RclError& error, const char* fix) {
  // As Fast DDS says it of a thread that it cannot start.
  const std::string no_thread = std::generic_category().message(EAGAIN);
  if (error.reason().find(no_thread) != std::string::npos) {
    fix = more_processes;
  }
  return Failure{
      {.what = error.operation() + " (" + error.where() + ")", .why = error.reason(), .fix = fix}};
}

// Over shared memory alone there is no node where it has no room.
inline takt::Node node_of(const takt::Context& context, const Options& options, Role role) {
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

template <class Body>
class RclLink : public Link {
 public:
  using Type = typename Body::Type;

  RclLink(const takt::Context& context, const Options& options, Role role, os::StopFlag& stop,
          const takt::SubscriptionOptions& subscription = {})
      : RclLink{context, options, role, stop,
                [&](const takt::Node& node, const std::string& topic, const takt::QoS& qos) {
                  return node.create_subscription<Type>(topic, qos, subscription);
                }} {}

  /// `subscribe` makes the subscription.
  template <class Subscribe>
    requires std::invocable<const Subscribe&, const takt::Node&, const std::string&,
                            const takt::QoS&>
  RclLink(const takt::Context& context, const Options& options, Role role, os::StopFlag& stop,
          const Subscribe& subscribe)
      : options_{options},
        role_{role},
        stop_{stop},
        inbox_{stop},
        node_{node_of(context, options, role)},
        in_{subscribe(node_, is_active(role) ? topic_back(options) : topic_there(options),
                      qos_of(options))} {
    {
      const InPool in_pool;  // where there is one
      Body::make_room(outgoing_, options.payload_bytes);
      Body::make_room(taken_, options.payload_bytes);
    }
    in_->set_on_new_message_callback(
        [this](std::size_t messages) noexcept { inbox_.announce(messages); });
    if (is_active(role)) {
      out_ = node_.create_publisher<Type>(topic_there(options), qos_of(options));
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
    out_ = node_.create_publisher<Type>(topic_back(options_), qos_of(options_));
    return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
  }

  void leave() noexcept override { out_.reset(); }

  std::size_t peers() const noexcept override { return in_->get_publisher_count(); }

  bool send(const Message& message) noexcept override {
    Body::write(outgoing_, message);
    return done(out_->publish(outgoing_));
  }

  bool reply() noexcept override { return done(out_->publish(taken_)); }

  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    while (inbox_.await(deadline)) {
      takt::MessageInfo info;
      const takt::Status status = in_->take(taken_, info);
      if (status) {
        if (auto message = Body::read(taken_)) {
          return message;
        }
      } else if (!status.nothing_taken()) {
        done(status);
        return {};
      }
    }
    return {};
  }

  std::optional<os::NotGranted> problem() const override {
    if (failure_) {
      return {};
    }
    return os::NotGranted{.what = "the middleware could not send or take a message",
                          .why = std::string{failure_.name()} + " " + takt::last_error(),
                          .fix = "look at the middleware's own output above"};
  }

  std::optional<os::NotGranted> detour() const override { return detour_of(options_); }

 protected:
  takt::Publisher<Type>& out() const noexcept { return *out_; }
  takt::Subscription<Type>& in() const noexcept { return *in_; }
  bool await(os::TimePoint deadline) noexcept { return inbox_.await(deadline); }

  bool done(takt::Status status) noexcept {
    if (!status) {
      failure_ = status;
    }
    return static_cast<bool>(status);
  }

 private:
  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  Inbox inbox_;
  takt::Node node_;
  std::shared_ptr<takt::Subscription<Type>> in_;
  std::shared_ptr<takt::Publisher<Type>> out_;
  Type outgoing_;
  Type taken_;
  takt::Status failure_;
};

}  // namespace takt::probe
