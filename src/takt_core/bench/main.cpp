// SPDX-License-Identifier: Apache-2.0
//
// bench_executor MODE [--rounds N] [--duration-ms N] [--cpu N]: costs of the executor, as JSON.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "bench.hpp"
#include "takt/os/idle.hpp"

namespace takt::bench {
namespace {

std::set<std::string> all_not_granted;

const std::map<std::string, void (*)(const Settings&)> modes{
    {"dispatch", dispatch},     {"wakeup", wakeup},    {"preempt", preempt},
    {"switch", switch_latency}, {"trace", trace_cost}, {"overheads", overheads},
    {"watch", watch_cost}};

}  // namespace

void note_not_granted(const os::SettingsNotGranted& not_granted) {
  for (const os::NotGranted& refused_setting : not_granted) {
    all_not_granted.insert(refused_setting.what + ": " + refused_setting.why);
  }
}

void print_document(const std::string& mode, const Settings& settings, const Json& rows) {
  const Json document{{"schema_version", 1},
                      {"bench", mode},
                      {"rounds", settings.rounds},
                      {"duration_ms", settings.duration / 1ms},
                      {"cpu", settings.cpu},
                      {"not_granted", all_not_granted},
                      {"rows", rows}};
  std::puts(document.dump().c_str());
}

const CLI::Range positive{std::int64_t{1}, std::numeric_limits<std::int64_t>::max()};

int run(int argc, char** argv) {
  CLI::App app{"Measure the cost of the executor; print JSON.", "bench_executor"};
  Settings settings;
  std::string mode;
  std::int64_t duration_ms = settings.duration / 1ms;
  app.add_option("MODE", mode, "Benchmark")->required()->check(CLI::IsMember(modes));
  app.add_option("--rounds", settings.rounds, "Number of rounds")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--duration-ms", duration_ms, "Duration of each cell in each round")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--cpu", settings.cpu, "CPU to pin to")
      ->check(CLI::Range(0, 1023))
      ->capture_default_str();
  app.footer("Example:\n  bench_executor wakeup --rounds 7 --cpu 1");
  try {
    app.parse(argc, argv);
    settings.duration = duration_ms * 1ms;
    // For baselines and executors alike, as the executor in real time has it.
    const os::NoDeepIdle no_deep_idle;
    if (no_deep_idle.refused_setting()) {
      note_not_granted({*no_deep_idle.refused_setting()});
    }
    modes.at(mode)(settings);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_executor: %s\n", error.what());
    return 1;
  }
}

}  // namespace takt::bench

int main(int argc, char** argv) {
  return takt::bench::run(argc, argv);
}
