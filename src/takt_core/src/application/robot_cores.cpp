// SPDX-License-Identifier: Apache-2.0
#include "robot_cores.hpp"

#include <algorithm>
#include <utility>

#include "parse_cores.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

constexpr int cores_of_host = 1 << 16;

// Of each host, in the order in which processes name them: a process stays on its host.
int number_of(const Application& application, const std::string& host, int cpu) {
  const auto first = std::ranges::find(application.processes, host, &Process::host);
  return static_cast<int>(first - application.processes.begin()) * cores_of_host + cpu;
}

}  // namespace

void parse_robot_cores(Object& object, Application& application) {
  std::vector<Process> all = with_threads(application).processes;
  for (const Process& one : application.processes) {
    for (const int cpu : one.cpus) {  // also one without a callback
      all.push_back({.cpu = cpu, .host = one.host});
    }
  }
  object.each("cores", [&](const Json& item, const std::string& path) {
    std::string host;
    Core core = parse_core(item, path, &host);
    const bool used = std::ranges::any_of(
        all, [&](const Process& one) { return one.host == host && one.cpu == core.cpu; });
    if (!used || core.cpu >= cores_of_host) {
      Object::fail(path + "/cpu", "is the core of no process");
    }
    core.cpu = number_of(application, host, core.cpu);
    if (application.find_core(core.cpu) != nullptr) {
      Object::fail(path + "/cpu", "is described twice");
    }
    application.cores.push_back(std::move(core));
  });
}

const Core* declared_core(const Application& application, const Process& process) {
  return declared_core(application, process, process.cpu);
}

const Core* declared_core(const Application& application, const Process& process, int cpu) {
  return cpu < 0 || cpu >= cores_of_host
             ? nullptr
             : application.find_core(number_of(application, process.host, cpu));
}

int cpu_of(const Core& core) {
  return core.cpu % cores_of_host;
}

const std::string& host_of(const Application& application, const Core& core) {
  return application.processes[static_cast<std::size_t>(core.cpu / cores_of_host)].host;
}

}  // namespace takt::application
