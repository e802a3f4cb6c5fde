// SPDX-License-Identifier: Apache-2.0
//
// What a process of a robot does to the others: it takes time from those below it on its core,
// publishes what they wait for, and answers their calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "robot_services.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// The jobs of one stream: what they take from the processes below.
struct Load {
  Arrivals noticed = {};
  nanoseconds execution{0};
  // When they start. Only where overheads and reservations ask for it.
  Arrivals started = {};

  friend bool operator==(const Load&, const Load&) = default;
};

// When a callback publishes; of a join, its first one for all.
struct Publisher {
  std::string callback;
  Arrivals published = {};

  friend bool operator==(const Publisher&, const Publisher&) = default;
};

// What a process does to the others.
struct Effects {
  std::vector<Load> loads;
  std::vector<Publisher> publishers;
  std::vector<Served> served;

  friend bool operator==(const Effects&, const Effects&) = default;
};

// Whether switches to processes with a reservation cost something.
bool counts_starts(const application::Application& robot);

// The effects of one process.
//
// `view` is the process with all that the others do to it, as far as known, `disturbed` whether
// they do anything at all, and `moves` whether its thread may leave its core. `steps`: of the
// search for bounds that are left, for all processes together.
Effects effects_of(const application::Application& view, const application::Application& robot,
                   bool moves, bool disturbed, std::int64_t& steps);

}  // namespace takt::analysis
