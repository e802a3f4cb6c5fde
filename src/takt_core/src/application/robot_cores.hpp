// SPDX-License-Identifier: Apache-2.0
//
// What is declared of the cores of a robot. Those of several hosts have the same numbers; as
// `Core::cpu` of its application they have one that says the host, too, and that stays when
// processes move to other cores.
#pragma once

#include <string>

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

// To be called when all else of the application has been parsed: cores that belong to no process,
// or are described twice, are refused.
void parse_robot_cores(Object& object, Application& application);

// Of its core, or first core. Null: it provides all of its time.
const Core* declared_core(const Application& application, const Process& process);
// The same of another core of its host.
const Core* declared_core(const Application& application, const Process& process, int cpu);

// Its number on its host.
int cpu_of(const Core& core);

// The host of such a core; empty: there is one.
const std::string& host_of(const Application& application, const Core& core);

}  // namespace takt::application
