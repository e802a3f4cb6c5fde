// SPDX-License-Identifier: Apache-2.0
//
// Chains that go on with the job of a server that a callback of them calls
// (docs/reference/analysis.md, eq. 32).
#include <algorithm>
#include <utility>

#include "../application/chain_calls.hpp"
#include "paths.hpp"

namespace takt::analysis {

bool Paths::calls(std::size_t client, std::size_t server) const {
  return application::calls(application_.callbacks[client], application_.callbacks[server]);
}

// The client ends after the server and what it does then. So the server has ended so much earlier,
// and has begun to serve earlier by its own shortest time as well.
void Paths::follow_call(Walk& walk, std::size_t server) const {
  const std::size_t client = walk.before;
  std::optional<nanoseconds> rest;   // after the response
  std::optional<nanoseconds> since;  // after the request
  std::vector<std::size_t> heads;
  bool others = false;
  for (const std::size_t stream : streams_[server]) {
    const Stream& called = model_.streams()[stream];
    if (called.called_by == nobody || model_.streams()[called.called_by].callback != client) {
      others = true;
      continue;
    }
    heads.push_back(stream);
    const nanoseconds after = model_.shortest_from(client, called.call + 1);
    const nanoseconds from = model_.shortest_from(client, called.call);
    rest = rest ? std::min(*rest, after) : after;
    since = since ? std::min(*since, from) : from;
  }
  if (others) {
    hold(walk);  // its jobs for them go on with what it has
  }
  const std::optional<nanoseconds> end = rest ? walk.stretch : std::nullopt;
  walk.stretch = end ? std::optional{*end - *rest} : std::nullopt;
  walk.soonest = end && walk.soonest ? std::optional{*walk.soonest - *rest} : walk.stretch;
  walk.called = end ? std::optional{*end - *since} : std::nullopt;
  walk.ends = others ? std::vector<std::size_t>{} : heads;
  walk.heads = walk.ends;
  walk.waits = true;
  walk.lost = walk.lost || !end;
  walk.before = server;
}

}  // namespace takt::analysis
