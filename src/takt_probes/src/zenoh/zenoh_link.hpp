// SPDX-License-Identifier: Apache-2.0
//
// Topics of Zenoh, which is behind a C interface (src/takt_zenoh). A thread of Zenoh reads the
// socket, keeps the message and announces it; the probe's thread takes it from there.
#pragma once

#include <takt_zenoh.h>

#include <memory>
#include <string>

#include "inbox.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

class ZenohLink : public Link {
 public:
  /// Throws Failure.
  ZenohLink(const Options& options, Role role, os::StopFlag& stop);

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override { return takt_zenoh_reply(link_.get()); }
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override { takt_zenoh_close_writer(link_.get()); }
  std::size_t peers() const noexcept override { return takt_zenoh_writers(link_.get()); }
  std::optional<os::Shortfall> problem() const override;

 private:
  struct Close {
    void operator()(takt_zenoh_link* opened) const { takt_zenoh_close(opened); }
  };

  void open_writer(const std::string& topic);

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  Inbox inbox_;
  std::unique_ptr<takt_zenoh_link, Close> link_;
};

}  // namespace takt::probe
