// SPDX-License-Identifier: Apache-2.0
//
// One end of a connection within one process, by takt_rcl and by pointer: without the middleware.
// The transports (sent_addresses.hpp) are named after what the callback takes, and each publishes
// what suits it: a unique_ptr, a shared_ptr, a message by reference, of which there is a copy. The
// time of a message's arrival is that of its callback, which runs on the probe's own thread.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <takt/rcl/context.hpp>
#include <utility>

#include "rcl_link.hpp"
#include "sent_addresses.hpp"

namespace takt::probe {

/// `addresses` outlives the link.
template <class Body>
class PointerLink : public RclLink<Body> {
 public:
  using Type = typename Body::Type;

  PointerLink(const takt::Context& context, const Options& options, Role role, os::StopFlag& stop,
              SentAddresses& addresses)
      : RclLink<Body>{context, options, role, stop,
                      [&](const takt::Node& node, const std::string& topic, const takt::QoS& qos) {
                        return subscribe(*this, options.transport, node, topic, qos);
                      }},
        options_{options},
        addresses_{addresses} {}

  bool connect(os::TimePoint deadline) override {
    return RclLink<Body>::connect(deadline) && renew();
  }

  bool send(const Message& message) noexcept override {
    Type* const outgoing = owned_ ? owned_.get() : shared_.get();
    if (outgoing == nullptr) {  // there was no memory for it
      return false;
    }
    Body::write(*outgoing, message);
    if (!message.last) {
      addresses_.note(message.sequence, outgoing);
    }
    if (options_.transport == "const_ref") {
      return this->done(this->out().publish(*outgoing));
    }
    const bool sent = this->done(owned_ ? this->out().publish(std::move(owned_))
                                        : this->out().publish(std::move(shared_)));
    return renew() && sent;  // not in the latency of this one
  }

  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    while (this->await(deadline)) {
      heard_.reset();
      this->in().deliver_oldest();
      if (heard_) {
        return heard_;
      }
    }
    return {};
  }

  std::optional<AddressCheck> addresses() const override { return addresses_.result(); }

 private:
  /// `self` is not made yet: only its callback uses it.
  static std::shared_ptr<takt::Subscription<Type>> subscribe(PointerLink& self,
                                                             const std::string& transport,
                                                             const takt::Node& node,
                                                             const std::string& topic,
                                                             const takt::QoS& qos) {
    if (transport == "unique_ptr") {
      return node.create_subscription<Type>(
          topic, qos, [&self](std::unique_ptr<Type> taken) { self.hear(*taken); });
    }
    if (transport == "shared_ptr") {
      return node.create_subscription<Type>(
          topic, qos, [&self](std::shared_ptr<const Type> taken) { self.hear(*taken); });
    }
    return node.create_subscription<Type>(topic, qos,
                                          [&self](const Type& taken) { self.hear(taken); });
  }

  void hear(const Type& taken) noexcept {
    const auto now = os::now();
    heard_ = Body::read(taken);
    if (heard_) {
      heard_->received = now;
      if (!heard_->last) {
        addresses_.compare(heard_->sequence, &taken);
      }
    }
  }

  /// The next message to send.
  bool renew() noexcept {
    try {
      if (options_.transport == "shared_ptr") {
        shared_ = this->out().reuse_message();
        Body::make_room(*shared_, options_.payload_bytes);
      } else {
        owned_ = std::make_unique<Type>();
        Body::make_room(*owned_, options_.payload_bytes);
      }
      return true;
    } catch (const std::bad_alloc&) {
      return this->done(takt::Status{RCL_RET_BAD_ALLOC});
    }
  }

  const Options& options_;
  SentAddresses& addresses_;
  std::unique_ptr<Type> owned_;
  std::shared_ptr<Type> shared_;
  std::optional<Message> heard_;
};

}  // namespace takt::probe
