// SPDX-License-Identifier: Apache-2.0
//
// The wire between two hosts that are network namespaces: forwards Ethernet frames between two
// interfaces, later, and not all of them, on kernels with and without netem alike. The document is
// written at the start, which says that it forwards, and once more at the end.
#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "relay.hpp"
#include "takt/os/clock.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/thread.hpp"
#include "takt/probe/result.hpp"

namespace {

using namespace std::chrono_literals;
using namespace takt::relay;
namespace os = takt::os;
using Json = nlohmann::ordered_json;

struct Asked {
  std::array<std::string, 2> interfaces;
  Impairment impairment;
  std::uint64_t seed = 1;
  std::size_t slots = 4096;
  int priority = 0;
  std::chrono::nanoseconds time_limit{};
  std::filesystem::path result;
};

double us(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

Json series(const takt::stats::Histogram& found) {
  if (found.count() == 0) {
    return nullptr;
  }
  return {{"mean_us", found.mean() / 1e3},
          {"min_us", us(found.min())},
          {"p50_us", us(found.percentile(50))},
          {"p99_us", us(found.percentile(99))},
          {"max_us", us(found.max())}};
}

Json counted(const Counters& found) {
  return {{"received", found.received}, {"forwarded", found.forwarded},
          {"lost", found.lost},         {"overflowed", found.overflowed},
          {"unsent", found.unsent},     {"missed", found.missed},
          {"late", series(found.late)}, {"delay", series(found.delay)}};
}

void write(const Asked& asked, Relay& relay, std::string_view status) {
  const os::ThreadStatus thread = os::current_thread();
  const auto& [there, back] = relay.counters();
  const Json document{{"schema_version", 1},
                      {"status", status},
                      {"policy", to_string(thread.policy)},
                      {"priority", thread.priority},
                      {"there", counted(there)},
                      {"back", counted(back)}};
  takt::probe::write_document(asked.result, document.dump());
}

std::string_view name_of(End end) {
  switch (end) {
    case End::stopped:
      return "stopped";
    case End::time_is_up:
      return "time is up";
    default:
      return "an interface is gone";
  }
}

int forward(const Asked& asked) {
  os::StopFlag stop;
  const os::StopOnSignal on_signal{stop};
  const auto relay =
      std::make_unique<Relay>(asked.interfaces, asked.impairment, asked.seed, asked.slots);
  const bool real_time = asked.priority > 0;
  // What was granted stands in the document.
  os::apply({.policy = real_time ? os::SchedulingPolicy::fifo : os::SchedulingPolicy::other,
             .priority = asked.priority,
             .name = "takt.relay"});
  os::set_timer_slack(1ns);
  write(asked, *relay, "running");
  const End end = relay->run(stop, os::now() + asked.time_limit);
  write(asked, *relay, name_of(end));
  return end == End::stopped ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  std::int64_t delay = 0;
  std::int64_t jitter = 0;
  std::int64_t limit = 0;
  const CLI::Range up_to_a_second(std::int64_t{0}, std::int64_t{1'000'000'000});
  CLI::App app{"Forward Ethernet frames between two interfaces, with delay and losses"};
  app.add_option("--first", asked.interfaces[0], "First interface")->required();
  app.add_option("--second", asked.interfaces[1], "Second interface")->required();
  app.add_option("--delay-ns", delay, "Delay of each frame in each direction")
      ->check(up_to_a_second);
  app.add_option("--jitter-ns", jitter,
                 "Maximum deviation from the delay, uniform, in both directions")
      ->check(up_to_a_second);
  app.add_option("--loss", asked.impairment.loss, "Loss probability")->check(CLI::Range(0.0, 1.0));
  app.add_option("--seed", asked.seed, "Random seed");
  app.add_option("--slots", asked.slots, "Maximum number of queued frames")
      ->check(CLI::Range(1, 65536));
  app.add_option("--priority", asked.priority, "SCHED_FIFO priority; 0: SCHED_OTHER")
      ->check(CLI::Range(0, os::max_priority));
  app.add_option("--time-limit-ns", limit, "Exit after this time")->required();
  app.add_option("--result", asked.result, "Result document to write")->required();
  CLI11_PARSE(app, argc, argv);
  asked.impairment.delay = std::chrono::nanoseconds{delay};
  asked.impairment.jitter = std::chrono::nanoseconds{jitter};
  asked.time_limit = std::chrono::nanoseconds{limit};
  try {
    return forward(asked);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
