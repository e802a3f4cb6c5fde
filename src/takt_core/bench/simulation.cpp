// SPDX-License-Identifier: Apache-2.0
//
// bench_simulation [--rounds N] [--jobs N]: jobs a second of the simulator, as JSON. 50 tasks on
// one core at a utilisation of 0.75, periods of 1..1000 ms, metrics only.
#include "takt/sim/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

application::Application tasks(const std::string& policy, int count, double utilisation,
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
    const double share = utilisation / count;
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

int run(const std::vector<std::string>& arguments) {
  std::size_t rounds = 5;
  std::uint64_t jobs = 5'000'000;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const auto value = std::strtoull(arguments[i + 1].c_str(), nullptr, 10);
    if (arguments[i] == "--rounds") {
      rounds = static_cast<std::size_t>(value);
    } else if (arguments[i] == "--jobs") {
      jobs = value;
    } else {
      std::fprintf(stderr, "usage: bench_simulation [--rounds N] [--jobs N]\n");
      return 2;
    }
  }
  rounds = std::max<std::size_t>(rounds, 1);
  std::printf(
      "{\"schema_version\": 1, \"bench\": \"simulation\", \"tasks\": 50, \"jobs\": %llu, "
      "\"rows\": [",
      static_cast<unsigned long long>(jobs));
  const char* separator = "\n  ";
  for (const char* policy : {"fp", "edf", "np-fp", "np-edf"}) {
    for (const bool drawn : {false, true}) {
      const auto application = tasks(policy, 50, 0.75, false);
      std::vector<double> rates(rounds);
      for (double& rate : rates) {
        rate = jobs_per_second(application,
                               {.execution = drawn ? sim::Execution::drawn : sim::Execution::worst},
                               jobs);
      }
      std::ranges::sort(rates);
      std::printf(
          "%s{\"policy\": \"%s\", \"execution\": \"%s\", \"jobs_per_second\": %.0f, "
          "\"best\": %.0f}",
          separator, policy, drawn ? "drawn" : "worst", rates[rates.size() / 2], rates.back());
      separator = ",\n  ";
    }
  }
  std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace takt::bench

int main(int argc, char** argv) {
  return takt::bench::run({argv + 1, argv + argc});
}
