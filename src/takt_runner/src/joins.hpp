// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <takt/application/application.hpp>
#include <takt/sched/join.hpp>
#include <vector>

namespace takt::runner {

// Makes the joins of these members; callbacks of one join are in the same node, and so all here.
template <class AnyMember>
void connect_joins(const application::Application& application, std::deque<AnyMember>& members,
                   std::deque<sched::Join>& joins) {
  for (const std::vector<std::size_t>& join : application.joins()) {
    sched::Join& state = joins.emplace_back(join.size());
    for (std::size_t input = 0; input < join.size(); ++input) {
      const auto member =
          std::ranges::find(members, &application.callbacks[join[input]], &AnyMember::description);
      if (member != members.end()) {
        member->join = &state;
        member->input = input;
      }
    }
  }
}

}  // namespace takt::runner
