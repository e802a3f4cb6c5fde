// SPDX-License-Identifier: Apache-2.0
//
// Applications whose callbacks call services, as the core parses them; 1 tick is 1 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace takt::analysis {

// A part of a job: so long at least and at most, or a call if a service is named.
struct Part {
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
  std::string call = {};
  std::string device = {};  // that it occupies meanwhile
};

// What releases it, its core, priority and parts.
struct Described {
  std::string name;
  std::string released = R"("period":100)";
  int cpu = 0;
  int priority = 1;
  std::vector<Part> parts = {};
  std::string more = {};
};

inline std::string served(const std::string& service) {
  return R"("kind":"service","trigger":")" + service + '"';
}

// Where it runs: on a core, or in a robot in the process of that number.
enum class Runs { on_cores, in_processes };

inline std::string text(const Described& one, Runs runs) {
  Part computes;
  std::int64_t waits = 0;
  std::string segments;
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    const Part& part = one.parts[i];
    computes.shortest += i % 2 == 0 ? part.shortest : 0;
    computes.longest += i % 2 == 0 ? part.longest : 0;
    waits += i % 2 == 0 ? 0 : part.longest;
    segments += segments.empty() ? "" : ",";
    segments += part.call.empty()
                    ? R"({"shortest":)" + std::to_string(part.shortest) + R"(,"longest":)" +
                          std::to_string(part.longest) +
                          (part.device.empty() ? "" : R"(,"device":")" + part.device + '"') + "}"
                    : R"({"call":")" + part.call + R"("})";
  }
  const std::string best = std::to_string(computes.shortest);
  const std::string worst = std::to_string(computes.longest);
  const std::string how = one.parts.size() == 1
                              ? ""
                              : R"(,"suspension":)" + std::to_string(waits) + R"(,"suspensions":)" +
                                    std::to_string(one.parts.size() / 2) + R"(,"segments":[)" +
                                    segments + "]";
  const std::string place = std::to_string(one.cpu);
  return R"({"name":")" + one.name + R"(",)" + one.released +
         (runs == Runs::on_cores ? R"(,"cpu":)" + place : R"(,"process":"p)" + place + '"') +
         R"(,"priority":)" + std::to_string(one.priority) + R"(,"execution":{"best":)" + best +
         R"(,"worst":)" + worst + R"(,"quantiles":[)" + best + "," + worst + "]}" + how + one.more +
         "}";
}

inline std::string document(const std::vector<Described>& callbacks, const std::string& more = "",
                            Runs runs = Runs::on_cores) {
  std::string all;
  for (const Described& one : callbacks) {
    all += (all.empty() ? "" : ",") + text(one, runs);
  }
  return R"({"version":1,"name":"s",)" +
         std::string{runs == Runs::on_cores ? R"("policy":"fp","cpus":[0,1,2],)" : ""} +
         R"("callbacks":[)" + all + "]" + more + "}";
}

// Of the processes p0 to p2, on one host or two, with what lies between them.
inline std::string robot(const std::vector<int>& cpus, const std::vector<std::string>& hosts,
                         const std::string& between) {
  std::string processes;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    processes += (i == 0 ? "" : ",") + std::string{R"({"name":"p)"} + std::to_string(i) +
                 R"(","policy":"fp","cpu":)" + std::to_string(cpus[i]) + R"(,"priority":)" +
                 std::to_string(80 - 20 * i) +
                 (hosts.empty() ? "" : R"(,"host":")" + hosts[i] + '"') + "}";
  }
  return R"(,"processes":[)" + processes + "]" + between;
}

// The callbacks of a chain.
using Path = std::vector<std::string>;

inline std::string chains(const std::vector<Path>& paths) {
  std::string all;
  for (const Path& path : paths) {
    std::string names;
    for (const std::string& name : path) {
      names += (names.empty() ? "" : ",") + std::string{'"'} + name + '"';
    }
    all += (all.empty() ? "" : ",") + std::string{R"({"name":"c)"} + path.back() +
           R"(","callbacks":[)" + names + "]}";
  }
  return R"(,"chains":[)" + all + R"(],"topics":[{"name":"way","depth":9},)" +
         R"({"name":"word","depth":9}])";
}

inline std::string released(const std::string& topic) {
  return R"("kind":"message","overrun":"catch_up","trigger":")" + topic + '"';
}

}  // namespace takt::analysis
