// SPDX-License-Identifier: Apache-2.0
//
// Messages in memory that the middleware lends (rcl_borrow_loaned_message), from one node to
// another of this process. Their types are of fixed size (takt_interfaces/msg/SampleFixed*).
#pragma once

#include <cstddef>
#include <memory>
#include <takt/rcl/context.hpp>
#include <vector>

#include "sent_addresses.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

/// The payloads for which there is a type; none where takt_interfaces was built without them.
std::vector<std::size_t> loan_sizes();

/// Throws Failure where the middleware does not lend. What is passed outlives the link.
std::unique_ptr<Link> open_loan_link(const takt::Context& context, const Options& options,
                                     Role role, os::StopFlag& stop, SentAddresses& sent);

}  // namespace takt::probe
