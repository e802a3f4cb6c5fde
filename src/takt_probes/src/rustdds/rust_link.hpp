// SPDX-License-Identifier: Apache-2.0
//
// Topics of RustDDS, which is behind a C interface (src/takt_rustdds). A thread of RustDDS reads
// the socket, stores the message and announces it; the probe's thread takes it from there.
#pragma once

#include <takt_rustdds.h>

#include <memory>

#include "takt/probe/link.hpp"

namespace takt::probe {

struct RustPart {
  void operator()(takt_rustdds_participant* joined) const { takt_rustdds_part(joined); }
};
using RustParticipant = std::unique_ptr<takt_rustdds_participant, RustPart>;

/// Joins the domain of ROS_DOMAIN_ID on the interface of TAKT_RUSTDDS_ADDRESS, with receive buffers
/// of TAKT_RUSTDDS_BUFFER. Throws Failure.
RustParticipant join_rustdds();

/// Throws Failure. `participant` outlives the link.
std::unique_ptr<Link> open_rustdds(takt_rustdds_participant* participant, const Options& options,
                                   Role role, os::StopFlag& stop);

}  // namespace takt::probe
