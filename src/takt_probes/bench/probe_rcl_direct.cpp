// SPDX-License-Identifier: Apache-2.0
//
// The ping-pong of probe_rcl written directly on rcl: same messages, same waiting, same recording,
// without takt_rcl. The ratio of the two, measured in one run, is what takt_rcl costs.
#include <unistd.h>

#include <memory>
#include <optional>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <takt_interfaces/msg/sample.hpp>

#include "inbox.hpp"
#include "meeting.hpp"
#include "rcl_handles.hpp"
#include "rcl_versions.hpp"
#include "shared_memory.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;
using takt_interfaces::msg::Sample;

const rosidl_message_type_support_t* sample_type() {
  return rosidl_typesupport_cpp::get_message_type_support_handle<Sample>();
}

rmw_qos_profile_t qos_of(const Options& options) {
  rmw_qos_profile_t qos = rmw_qos_profile_default;
  qos.depth = options.depth;
  qos.reliability = options.reliability == Reliability::reliable
                        ? RMW_QOS_POLICY_RELIABILITY_RELIABLE
                        : RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
  return qos;
}

extern "C" void takt_on_new_message(const void* inbox, std::size_t messages) {
  static_cast<Inbox*>(const_cast<void*>(inbox))->announce(messages);
}

class DirectLink : public Link {
 public:
  DirectLink(RclContext& context, const Options& options, Role role, os::StopFlag& stop)
      : options_{options},
        stop_{stop},
        inbox_{stop},
        node_{context, "probe_" + std::string{name_of(role)} + "_" + std::to_string(getpid())},
        in_{node_, sample_type(), is_active(role) ? topic_back(options) : topic_there(options),
            qos_of(options)} {
    outgoing_.payload.resize(options.payload_bytes);
    taken_.payload.resize(options.payload_bytes);
    require(rcl_subscription_set_on_new_message_callback(&in_.handle, takt_on_new_message, &inbox_),
            "rcl_subscription_set_on_new_message_callback");
    if (is_active(role)) {
      out_.emplace(node_, sample_type(), topic_there(options), qos_of(options));
    }
  }

  ~DirectLink() override {
    ignore(rcl_subscription_set_on_new_message_callback(&in_.handle, nullptr, nullptr));
  }

  bool connect(os::TimePoint deadline) override {
    const auto found = [this] { return peers() >= 1; };
    const auto heard = [this] {
      std::size_t count = 0;
      require(rcl_publisher_get_subscription_count(&out_->handle, &count),
              "rcl_publisher_get_subscription_count");
      return count >= 1;
    };
    if (!wait_for_meeting(options_, stop_, deadline, found)) {
      return false;
    }
    if (!out_) {
      out_.emplace(node_, sample_type(), topic_back(options_), qos_of(options_));
    }
    return wait_for_meeting(options_, stop_, deadline, heard);
  }

  std::size_t peers() const noexcept override {
    std::size_t count = 0;
    return rcl_subscription_get_publisher_count(&in_.handle, &count) == RCL_RET_OK ? count : 0;
  }

  bool send(const Message& message) noexcept override {
    outgoing_.sequence = message.sequence;
    outgoing_.intended_ns = message.intended.time_since_epoch().count();
    outgoing_.sent_ns = message.sent.time_since_epoch().count();
    outgoing_.last = message.last;
    return done(rcl_publish(&out_->handle, &outgoing_, nullptr));
  }

  bool reply() noexcept override { return done(rcl_publish(&out_->handle, &taken_, nullptr)); }

  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    using std::chrono::nanoseconds;
    while (inbox_.await(deadline)) {
      rmw_message_info_t info = rmw_get_zero_initialized_message_info();
      const rcl_ret_t result = rcl_take(&in_.handle, &taken_, &info, nullptr);
      if (result == RCL_RET_OK) {
        return Message{.sequence = taken_.sequence,
                       .intended = os::TimePoint{nanoseconds{taken_.intended_ns}},
                       .sent = os::TimePoint{nanoseconds{taken_.sent_ns}},
                       .last = taken_.last};
      }
      if (result != RCL_RET_SUBSCRIPTION_TAKE_FAILED) {
        done(result);
        return {};
      }
      rcl_reset_error();
    }
    return {};
  }

  std::optional<os::NotGranted> detour() const override { return detour_of(options_); }

  std::optional<os::NotGranted> problem() const override {
    if (failure_ == RCL_RET_OK) {
      return {};
    }
    return os::NotGranted{.what = "the middleware could not send or take a message",
                          .why = "rcl returned " + std::to_string(failure_),
                          .fix = "look at the middleware's own output above"};
  }

 private:
  bool done(rcl_ret_t result) noexcept {
    if (result != RCL_RET_OK) {
      failure_ = result;
      rcl_reset_error();
    }
    return result == RCL_RET_OK;
  }

  const Options& options_;
  os::StopFlag& stop_;
  Inbox inbox_;
  RclNode node_;
  RclSubscription in_;
  std::optional<RclPublisher> out_;
  Sample outgoing_;
  Sample taken_;
  rcl_ret_t failure_ = RCL_RET_OK;
};

class RclDirect : public Stack {
 public:
  std::string_view name() const override { return "rcl_direct"; }

  std::vector<Capability> capabilities() const override {
    return {{.kind = Kind::pingpong, .transport = "shm", .roles = {Role::pong, Role::ping}},
            {.kind = Kind::pingpong, .transport = "udp", .roles = {Role::pong, Role::ping}},
            {.kind = Kind::pingpong, .transport = "process", .roles = {Role::both}}};
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    if (!context_) {
      context_.emplace();
    }
    return std::make_unique<DirectLink>(*context_, options, role, stop);
  }

  std::map<std::string, std::string> versions() const override { return rcl_versions(); }

 private:
  std::optional<RclContext> context_;
};

}  // namespace

int main(int argc, char** argv) {
  RclDirect direct;
  return run(argc, argv, direct);
}
