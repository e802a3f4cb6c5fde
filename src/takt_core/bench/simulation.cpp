// SPDX-License-Identifier: Apache-2.0
//
// bench_simulation [--rounds N] [--jobs N]: jobs a second of the simulator, as JSON. 50 tasks on
// one core at a utilization of 0.75, periods of 1..1000 ms, metrics only.
#include "takt/sim/simulation.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::bench {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

application::Application tasks(const std::string& policy, int count, double utilization,
                               bool synchronous) {
  constexpr unsigned seed = 7;
  std::mt19937_64 random{seed};  // NOLINT(bugprone-random-generator-seed): the same set each time
  const std::vector<int> periods{1, 2, 5, 10, 20, 50, 100, 200, 1000};  // ms, as in automotive
  application::Application application{.name = "bench", .policy = policy};
  for (int i = 0; i < count; ++i) {
    application::Callback callback;
    callback.task.name = "task" + std::to_string(i);
    sched::TaskParameters& parameters = callback.task.parameters;
    parameters.period = periods[random() % periods.size()] * 1ms;
    parameters.priority = 1 + static_cast<int>(random() % 98);
    const double share = utilization / count;
    parameters.expected_execution = nanoseconds{
        static_cast<std::int64_t>(static_cast<double>(parameters.period.count()) * share)};
    if (!synchronous) {
      parameters.offset = nanoseconds{static_cast<std::int64_t>(
          random() % static_cast<std::uint64_t>(parameters.period.count()))};
    }
    callback.execution = {
        .best = parameters.expected_execution,
        .worst = parameters.expected_execution,
        .quantiles = {parameters.expected_execution / 2, parameters.expected_execution}};
    application.callbacks.push_back(callback);
  }
  return application;
}

double jobs_per_second(const application::Application& application, sim::Options options,
                       std::uint64_t jobs) {
  double rate = 0;
  for (const application::Callback& callback : application.callbacks) {
    rate += 1e9 / static_cast<double>(callback.task.parameters.period.count());
  }
  options.duration = nanoseconds{static_cast<std::int64_t>(static_cast<double>(jobs) / rate * 1e9)};
  const auto before = os::now();
  const sim::Result result = sim::simulate(application, options);
  const auto taken = std::chrono::duration<double>(os::now() - before).count();
  return static_cast<double>(result.jobs) / taken;
}

Json measure(std::size_t rounds, std::uint64_t jobs) {
  Json rows = Json::array();
  for (const char* policy : {"fp", "edf", "np-fp", "np-edf"}) {
    for (const bool drawn : {false, true}) {
      const auto application = tasks(policy, 50, 0.75, false);
      std::vector<double> rates(rounds);
      for (double& rate : rates) {
        rate = jobs_per_second(
            application,
            {.execution = drawn ? sim::ExecutionTimes::drawn : sim::ExecutionTimes::worst}, jobs);
      }
      std::ranges::sort(rates);
      rows.push_back({{"policy", policy},
                      {"execution", drawn ? "drawn" : "worst"},
                      {"jobs_per_second", std::round(rates[rates.size() / 2])},
                      {"best", std::round(rates.back())}});
    }
  }
  return rows;
}

int run(int argc, char** argv) {
  CLI::App app{"Measure the simulated jobs per second; print JSON.", "bench_simulation"};
  const CLI::Range positive{1, std::numeric_limits<int>::max()};
  std::size_t rounds = 5;
  std::uint64_t jobs = 5'000'000;
  app.add_option("--rounds", rounds, "Number of rounds")->check(positive)->capture_default_str();
  app.add_option("--jobs", jobs, "Number of jobs in each round")
      ->check(positive)
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Json document{{"schema_version", 1},
                      {"bench", "simulation"},
                      {"tasks", 50},
                      {"jobs", jobs},
                      {"rows", measure(rounds, jobs)}};
  std::puts(document.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace takt::bench

int main(int argc, char** argv) {
  return takt::bench::run(argc, argv);
}
