// SPDX-License-Identifier: Apache-2.0
//
// Topics of Zenoh, which is behind a C interface (src/takt_zenoh). A thread of Zenoh reads the
// socket, keeps the message and announces it; the probe's thread takes it from there.
#pragma once

#include <memory>

#include "takt/probe/link.hpp"

namespace takt::probe {

/// Throws Failure.
std::unique_ptr<Link> open_zenoh(const Options& options, Role role, os::StopFlag& stop);

}  // namespace takt::probe
