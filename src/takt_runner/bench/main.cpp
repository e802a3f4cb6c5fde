// SPDX-License-Identifier: Apache-2.0
//
// bench_rcl_executor MODE [--name value]…
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <takt/os/idle.hpp>
#include <takt/os/thread.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

using Modes = std::map<std::string, void (*)(const Settings&)>;

Modes modes() {
  return {{"dispatch", dispatch},
          {"overhead", overhead},
          {"intra", intra},
          {"handover", handover},
          {"messages", messages}};
}

std::set<std::string>& all_not_granted() {
  static std::set<std::string> seen;
  return seen;
}

// Throws CLI::ParseError.
Settings parse(CLI::App& app, int argc, char** argv) {
  Settings settings;
  const CLI::Range positive{std::int64_t{1}, std::numeric_limits<std::int64_t>::max()};
  std::int64_t duration_ms = settings.duration / 1ms;
  app.add_option("MODE", settings.mode, "Benchmark")->required()->check(CLI::IsMember(modes()));
  app.add_option("--executor", settings.executor, "Executor")
      ->check(CLI::IsMember({"takt", "baseline0"}));
  app.add_option("--cpu", settings.cpu, "CPU to pin to")->check(CLI::Range(0, 1023));
  app.add_option("--duration-ms", duration_ms, "Duration of each cell")->check(positive);
  app.add_option("--callbacks", settings.callbacks, "Number of callbacks (dispatch)")
      ->check(positive);
  app.add_option("--subscriptions", settings.subscriptions,
                 "Make half of the callbacks subscriptions (dispatch)");
  app.add_option("--priorities", settings.priorities, "Number of priorities (dispatch, takt)")
      ->check(positive);
  app.add_option("--spread", settings.spread, "Spread the releases over the period (dispatch)");
  app.add_option("--by-pointer", settings.by_pointer, "Pass messages by pointer (dispatch, takt)");
  app.add_option("--nodes", settings.nodes, "Number of nodes (overhead)")->check(positive);
  app.add_option("--publishers", settings.publishers, "Share of nodes with publishers (overhead)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--subscribers", settings.subscribers,
                 "Share of nodes with subscribers (overhead)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--periods-ms", settings.periods_ms, "Periods of the timers, N,N,… (overhead)")
      ->delimiter(',')
      ->check(positive);
  app.add_option("--payload", settings.payload, "Payload size in bytes (intra, messages)")
      ->check(positive);
  app.add_option("--same-thread", settings.same_thread,
                 "Give publisher and reader the same priority (intra)");
  for (CLI::Option* option : app.get_options()) {
    option->capture_default_str();
  }
  app.footer("Example:\n  bench_rcl_executor dispatch --executor baseline0 --callbacks 50 --cpu 1");
  app.parse(argc, argv);
  settings.duration = duration_ms * 1ms;
  return settings;
}

int run(int argc, char** argv) {
  CLI::App app{"Measure the cost of the executor; print JSON.", "bench_rcl_executor"};
  try {
    const Settings settings = parse(app, argc, argv);
    // For baselines and executors alike, as the executor in real time has it.
    const os::NoDeepIdle no_deep_idle;
    if (no_deep_idle.refused_setting()) {
      note_not_granted({*no_deep_idle.refused_setting()});
    }
    modes().at(settings.mode)(settings);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
}

}  // namespace

void note_not_granted(const os::SettingsNotGranted& not_granted) {
  for (const os::NotGranted& refused_setting : not_granted) {
    all_not_granted().insert(refused_setting.what + ": " + refused_setting.why);
  }
}

void print_document(const Settings& settings, const Json& figures) {
  Json document{{"schema_version", 1},
                {"bench", settings.mode},
                {"executor", settings.executor},
                {"cpu", settings.cpu},
                {"not_granted", all_not_granted()}};
  document.update(figures);
  std::puts(document.dump().c_str());
}

void stay_on(int cpu) {
  note_not_granted(os::apply({.cpus = {cpu}}));
}

}  // namespace takt::bench

int main(int argc, char** argv) try {
  return takt::bench::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_rcl_executor: %s\n", error.what());
  return 1;
}
