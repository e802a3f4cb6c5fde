// SPDX-License-Identifier: Apache-2.0
//
// bench_rclcpp MODE [--name value]…
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <takt/os/idle.hpp>
#include <takt/os/thread.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

// Which there are.
Json executors(const Settings& /*settings*/) {
  return {{"executors", takt_rclcpp::executor_names()}};
}

const std::map<std::string, Json (*)(const Settings&)> modes{
    {"timers", timers}, {"messages", messages}, {"pingpong", pingpong},  {"burns", burns},
    {"wakeup", wakeup}, {"life", life},         {"executors", executors}};

const CLI::Range positive{std::int64_t{1}, std::numeric_limits<std::int64_t>::max()};

// Throws CLI::ParseError.
Settings parse(CLI::App& app, int argc, char** argv) {
  Settings settings;
  std::int64_t duration_ms = settings.duration / 1ms;
  app.add_option("MODE", settings.mode, "What is measured")
      ->required()
      ->check(CLI::IsMember(modes));
  app.add_option("--executor", settings.executor)
      ->check(CLI::IsMember(takt_rclcpp::executor_names()));
  app.add_option("--cpu", settings.cpu, "Where everything runs")->check(CLI::Range(0, 1023));
  app.add_option("--duration-ms", duration_ms)->check(positive);
  app.add_option("--domain", settings.domain, "Of ROS")->check(CLI::Range(0, 232));
  app.add_option("--threads", settings.threads, "Of executors that have several")->check(positive);
  app.add_option("--callbacks", settings.callbacks, "timers, messages")->check(positive);
  app.add_option("--spread", settings.spread, "timers: releases one after the other");
  app.add_option("--intra-process", settings.intra_process, "messages");
  app.add_option("--payload", settings.payload, "pingpong: bytes")->check(positive);
  app.add_option("--nodes", settings.nodes, "life")->check(positive);
  for (CLI::Option* option : app.get_options()) option->capture_default_str();
  app.footer("Example:\n  bench_rclcpp timers --executor events --callbacks 50 --cpu 1");
  app.parse(argc, argv);
  settings.duration = duration_ms * 1ms;
  return settings;
}

// This thread, and all that it starts: those of the middleware and of every executor.
std::set<std::string> be_in_real_time(int cpu) {
  std::set<std::string> missing;
  for (const os::NotGranted& refused_setting :
       os::apply({.policy = os::SchedulingPolicy::fifo, .priority = priority, .cpus = {cpu}})) {
    missing.insert(refused_setting.what + ": " + refused_setting.why);
  }
  return missing;
}

int run(int argc, char** argv) {
  CLI::App app{"Measures what an executor of rclcpp nodes costs, and prints JSON.", "bench_rclcpp"};
  try {
    const Settings settings = parse(app, argc, argv);
    // For all executors alike, as Takt's in real time has it.
    const os::NoDeepIdle no_deep_idle;
    Json document{{"schema_version", 1},
                  {"bench", settings.mode},
                  {"executor", settings.executor},
                  {"cpu", settings.cpu},
                  {"not_granted", be_in_real_time(settings.cpu)}};
    rclcpp::InitOptions of_context;
    of_context.set_domain_id(settings.domain);
    rclcpp::init(0, nullptr, of_context, rclcpp::SignalHandlerOptions::None);
    document.update(modes.at(settings.mode)(settings));
    rclcpp::shutdown();
    std::puts(document.dump().c_str());
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_rclcpp: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace takt::bench

int main(int argc, char** argv) {
  return takt::bench::run(argc, argv);
}
