// SPDX-License-Identifier: Apache-2.0
//
// bench_executor MODE [--rounds N] [--duration-ms N] [--cpu N]: costs of the executor, as JSON.
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include "bench.hpp"
#include "takt/os/idle.hpp"

namespace takt::bench {
namespace {

std::set<std::string> shortfalls_seen;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return result + "\"";
}

int wrong_use(const char* what) {
  std::fprintf(stderr,
               "bench_executor: %s\nusage: bench_executor dispatch|wakeup|preempt|switch|trace|"
               "overheads [--rounds N] [--duration-ms N] [--cpu N]\nexample: bench_executor wakeup "
               "--rounds 7 "
               "--cpu 1\n",
               what);
  return 2;
}

}  // namespace

void note_shortfalls(const os::Shortfalls& shortfalls) {
  for (const os::Shortfall& shortfall : shortfalls) {
    shortfalls_seen.insert(shortfall.what + ": " + shortfall.why);
  }
}

void print_document(const std::string& mode, const Settings& settings,
                    const std::vector<std::string>& rows) {
  std::printf(
      "{\"schema_version\": 1, \"bench\": \"%s\", \"rounds\": %d, \"duration_ms\": %lld, "
      "\"cpu\": %d,\n \"shortfalls\": [",
      mode.c_str(), settings.rounds,
      static_cast<long long>(settings.duration / std::chrono::milliseconds{1}), settings.cpu);
  const char* separator = "";
  for (const std::string& shortfall : shortfalls_seen) {
    std::printf("%s%s", std::exchange(separator, ", "), quoted(shortfall).c_str());
  }
  std::printf("],\n \"rows\": [");
  separator = "\n  ";
  for (const std::string& row : rows) {
    std::printf("%s%s", std::exchange(separator, ",\n  "), row.c_str());
  }
  std::printf("]}\n");
}

int run(int argc, char** argv) {
  const std::map<std::string, void (*)(const Settings&)> modes{
      {"dispatch", dispatch},     {"wakeup", wakeup},    {"preempt", preempt},
      {"switch", switch_latency}, {"trace", trace_cost}, {"overheads", overheads}};
  if (argc < 2 || !modes.contains(argv[1])) {
    return wrong_use("name one of its modes");
  }
  Settings settings;
  for (int i = 2; i < argc; i += 2) {
    char* end = nullptr;
    const long value = i + 1 < argc ? std::strtol(argv[i + 1], &end, 10) : -1;
    if (end == nullptr || *end != '\0' || value < 0) {
      return wrong_use("an option needs a number that is not negative");
    }
    if (std::strcmp(argv[i], "--rounds") == 0 && value > 0) {
      settings.rounds = static_cast<int>(value);
    } else if (std::strcmp(argv[i], "--duration-ms") == 0 && value > 0) {
      settings.duration = value * 1ms;
    } else if (std::strcmp(argv[i], "--cpu") == 0) {
      settings.cpu = static_cast<int>(value);
    } else {
      return wrong_use(argv[i]);
    }
  }
  try {
    // For baselines and executors alike, as the executor in real time has it.
    const os::NoDeepIdle no_deep_idle;
    if (no_deep_idle.shortfall()) {
      note_shortfalls({*no_deep_idle.shortfall()});
    }
    modes.at(argv[1])(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_executor: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace takt::bench

int main(int argc, char** argv) {
  return takt::bench::run(argc, argv);
}
