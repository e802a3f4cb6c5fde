// SPDX-License-Identifier: Apache-2.0
//
// What the report of a robot says of its processes, and which of them a bound depends on.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "takt/analysis/analyse.hpp"

namespace takt::analysis {

bool is_above(const application::Process& other, const application::Process& own);

bool publishes(const application::Callback& callback, const std::string& topic);

// The processes above one on its core: ", below 'control' and 'guard'"; empty: none.
std::string below_text(const application::Application& robot, std::size_t number);

// A remark for each topic of the process whose messages from other processes have no least
// distance. `process`: as it is analysed; `unbounded`: these topics of it, where it has a period.
std::vector<std::string> unbounded_messages(const application::Application& robot,
                                            const application::Application& process,
                                            std::size_t number,
                                            const std::set<std::string>& unbounded);

// A time of one host by the clock of another one whose rate differs by so many millionths: the
// longest and the shortest that it may be.
nanoseconds slower(nanoseconds time, std::int64_t drift);
nanoseconds faster(nanoseconds time, std::int64_t drift);

// What the bounds assume of messages between processes.
std::vector<std::string> assumed_of_messages(const application::Application& robot);

// The interrupts in the analysis of a process are the jobs of those above it.
void name_processes_above(ScenarioReport& report);

// Calls the topics that threads of the process receive as the description does.
void name_topics(ScenarioReport& report, const application::Application& robot,
                 const application::Process& process);

}  // namespace takt::analysis
