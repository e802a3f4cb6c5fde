// SPDX-License-Identifier: Apache-2.0
//
// Topics of RustDDS, which is behind a C interface (src/takt_rustdds). A thread of RustDDS reads
// the socket, stores the message and announces it; the probe's thread takes it from there.
#pragma once

#include <takt_rustdds.h>

#include <memory>
#include <string>

#include "inbox.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

struct RustPart {
  void operator()(takt_rustdds_participant* joined) const { takt_rustdds_part(joined); }
};
using RustParticipant = std::unique_ptr<takt_rustdds_participant, RustPart>;

/// Joins the domain of ROS_DOMAIN_ID on the interface of TAKT_RUSTDDS_ADDRESS, with receive buffers
/// of TAKT_RUSTDDS_BUFFER. Throws Failure.
RustParticipant join_rustdds();

class RustLink : public Link {
 public:
  /// Throws Failure. `participant` outlives the link.
  RustLink(takt_rustdds_participant* participant, const Options& options, Role role,
           os::StopFlag& stop);

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override { return takt_rustdds_reply(link_.get()); }
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override { takt_rustdds_close_writer(link_.get()); }
  std::size_t peers() const noexcept override { return takt_rustdds_writers(link_.get()); }
  std::optional<os::Shortfall> problem() const override;

 private:
  struct Close {
    void operator()(takt_rustdds_link* opened) const { takt_rustdds_close(opened); }
  };

  void open_writer(const std::string& topic);

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  Inbox inbox_;
  std::unique_ptr<takt_rustdds_link, Close> link_;
};

}  // namespace takt::probe
