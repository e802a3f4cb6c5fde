// SPDX-License-Identifier: Apache-2.0
//
// Topics of iceoryx2, which is behind a C interface (src/takt_iceoryx2). It has no threads: the
// probe's own thread waits for the event and takes the message from shared memory.
#pragma once

#include <takt_iceoryx2.h>

#include <memory>
#include <string>

#include "takt/probe/link.hpp"

namespace takt::probe {

class IceoryxLink : public Link {
 public:
  /// Throws Failure.
  IceoryxLink(const Options& options, Role role, os::StopFlag& stop);

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override { return takt_iceoryx2_reply(link_.get()); }
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override { takt_iceoryx2_close_writer(link_.get()); }
  std::size_t peers() const noexcept override { return takt_iceoryx2_writers(link_.get()); }
  std::optional<os::Shortfall> problem() const override;

 private:
  struct Close {
    void operator()(takt_iceoryx2_link* opened) const { takt_iceoryx2_close(opened); }
  };

  void open_writer(const std::string& topic);

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  std::unique_ptr<takt_iceoryx2_link, Close> link_;
};

}  // namespace takt::probe
