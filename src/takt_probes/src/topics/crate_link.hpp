// SPDX-License-Identifier: Apache-2.0
//
// Topics of a stack in Rust, behind the C interface that all such crates have (takt_link.h). What
// is of one of them alone is in a class `Topics`:
//   Topics(stop)                   and what else CrateLink is given
//   name, fix                   in words, for when sending or taking failed
//   named(topic)                   as the stack calls it
//   open(options, role, topic)     an OpenLink, which takes from this topic; throws Failure
//   refused(topic, why)            the Failure of a writer that could not be opened
//   await(link, deadline)          waits until there may be a message; false: no longer
#pragma once

#include <takt_link.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "inbox.hpp"
#include "meeting.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

/// Room for why a function of a crate failed.
using Why = std::array<char, 500>;

struct CloseLink {
  void operator()(takt_link* opened) const { takt_link_close(opened); }
};
using OpenLink = std::unique_ptr<takt_link, CloseLink>;

/// Of a stack whose threads announce messages.
class Announced {
 public:
  explicit Announced(os::StopFlag& stop) : inbox_{stop} {}

  bool await(takt_link* /*link*/, os::TimePoint deadline) noexcept {
    return inbox_.await(deadline);
  }

 protected:
  takt_callback announce() noexcept {
    return {.call = [](void* inbox) { static_cast<Inbox*>(inbox)->announce(1); },
            .context = &inbox_};
  }

 private:
  Inbox inbox_;
};

template <class Topics>
class CrateLink : public Link {
 public:
  /// Throws Failure. `others`: what Topics are given besides; they outlive the link.
  template <class... Others>
  CrateLink(const Options& options, Role role, os::StopFlag& stop, Others*... others)
      : options_{options}, role_{role}, stop_{stop}, topics_{stop, others...} {
    const bool active = is_active(role);
    const std::string incoming = active ? topic_back(options) : topic_there(options);
    link_ = topics_.open(options, role, Topics::named(incoming));
    if (active) {
      open_writer(topic_there(options));
    }
  }

  bool connect(os::TimePoint deadline) override {
    const auto heard = [this] { return takt_link_readers(link_.get()); };
    if (is_active(role_)) {
      const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
      return wait_for_meeting(options_, stop_, deadline,
                              [&] { return peers() >= wanted && heard() >= wanted; });
    }
    if (!wait_for_meeting(options_, stop_, deadline, [&] { return peers() >= 1; })) {
      return false;
    }
    open_writer(topic_back(options_));
    return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
  }

  bool send(const Message& message) noexcept override {
    const takt_head head{.sequence = message.sequence,
                         .intended_ns = message.intended.time_since_epoch().count(),
                         .sent_ns = message.sent.time_since_epoch().count(),
                         .last = message.last};
    return takt_link_send(link_.get(), &head);
  }

  bool reply() noexcept override { return takt_link_reply(link_.get()); }

  std::optional<Message> receive(os::TimePoint deadline) noexcept override {
    using std::chrono::nanoseconds;
    // What is there is taken first: a wake-up may stand for several messages, or for one that gave
    // way to a newer one.
    do {
      takt_head head{};
      const int taken = takt_link_take(link_.get(), &head);
      if (taken < 0) {
        return {};
      }
      if (taken > 0) {
        return Message{.sequence = head.sequence,
                       .intended = os::TimePoint{nanoseconds{head.intended_ns}},
                       .sent = os::TimePoint{nanoseconds{head.sent_ns}},
                       .last = head.last};
      }
    } while (topics_.await(link_.get(), deadline));
    return {};
  }

  void leave() noexcept override { takt_link_close_writer(link_.get()); }

  std::size_t peers() const noexcept override { return takt_link_writers(link_.get()); }

  std::optional<os::NotGranted> problem() const override {
    Why why{};
    if (!takt_link_problem(link_.get(), why.data(), why.size())) {
      return {};
    }
    return os::NotGranted{.what = std::string{Topics::name} + " could not send or take a message",
                          .why = why.data(),
                          .fix = Topics::fix};
  }

 private:
  void open_writer(const std::string& topic) {
    Why why{};
    if (!takt_link_open_writer(link_.get(), Topics::named(topic).c_str(), why.data(), why.size())) {
      throw Topics::refused(topic, why);
    }
  }

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  Topics topics_;  // announced to until the link, which therefore ends first, is closed
  OpenLink link_;
};

}  // namespace takt::probe
