// SPDX-License-Identifier: Apache-2.0
//
// Topics of iceoryx2, which is behind a C interface (src/takt_iceoryx2). It has no threads: the
// probe's own thread waits for the event and takes the message from shared memory.
#pragma once

#include <memory>

#include "takt/probe/link.hpp"

namespace takt::probe {

/// Throws Failure.
std::unique_ptr<Link> open_iceoryx2(const Options& options, Role role, os::StopFlag& stop);

}  // namespace takt::probe
