// SPDX-License-Identifier: Apache-2.0
//
// Jobs of a reentrant callback overtake each other, and so do their messages. Each datum still
// arrives after the sum of the responses on its way, but what a timer or a join finds last need not
// be the newest (docs/reference/analysis.md, eq. 48).
#pragma once

#include <string>

#include "takt/analysis/report.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// The first reentrant callback of the chain; empty: none.
[[nodiscard]] std::string overtaking_in(const application::Application& application,
                                        const application::Chain& chain);

// Whether older data may be used in the place of newer: by what does not run for each message.
[[nodiscard]] bool replaces_newer(const application::Application& application,
                                  const application::Chain& chain);

// That the chain has no age behind this callback, nor a reaction, and why.
[[nodiscard]] std::string overtaken_text(const ChainReport& chain, const std::string& callback);

// The same as remarks on the chains of an application of one process.
void add_overtaking(const application::Application& application, Report& report);

}  // namespace takt::analysis
