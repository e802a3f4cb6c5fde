// SPDX-License-Identifier: Apache-2.0
//
// bench_analysis [SETS [TASKS]]: time for the verdict of random sets of one core under each policy,
// as JSON. Utilizations from 0.5 to 0.95 (UUniFast, Bini & Buttazzo 2005), periods log-uniform from
// 10 ms to 1 s in steps of 0.1 ms, deadlines from 0.8 to 1 period; priorities by deadline.
#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "takt/analysis/batch.hpp"

namespace {

using Json = nlohmann::ordered_json;

struct Columns {
  std::vector<std::int64_t> first = {0};
  std::vector<std::int64_t> period;
  std::vector<std::int64_t> deadline;
  std::vector<std::int64_t> wcet;
  std::vector<std::int64_t> priority;
};

void add_set(Columns& columns, std::int64_t tasks, std::mt19937_64& random) {
  std::uniform_real_distribution<double> share{0, 1};
  double left = 0.5 + 0.45 * share(random);
  for (std::int64_t i = 0; i < tasks; ++i) {
    const auto others = static_cast<double>(tasks - 1 - i);
    const double next = others > 0 ? left * std::pow(share(random), 1 / others) : 0;
    const double period = std::round(std::pow(10, 2 + 2 * share(random))) * 1e5;
    columns.period.push_back(static_cast<std::int64_t>(period));
    columns.wcet.push_back(static_cast<std::int64_t>((left - next) * period));
    columns.deadline.push_back(static_cast<std::int64_t>((0.8 + 0.2 * share(random)) * period));
    columns.priority.push_back(-columns.deadline.back());  // only their order matters
    left = next;
  }
  columns.first.push_back(static_cast<std::int64_t>(columns.period.size()));
}

}  // namespace

int main(int argc, const char** argv) {
  CLI::App app{"Measure the analysis time of random task sets; print JSON.", "bench_analysis"};
  const CLI::Range positive{1, std::numeric_limits<int>::max()};
  std::int64_t sets = 10'000;
  std::int64_t tasks = 50;
  app.add_option("SETS", sets, "Number of task sets")->check(positive)->capture_default_str();
  app.add_option("TASKS", tasks, "Number of tasks in each set")
      ->check(positive)
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  // NOLINTNEXTLINE(bugprone-random-generator-seed): the same sets each time
  std::mt19937_64 random{1};
  Columns columns;
  for (std::int64_t i = 0; i < sets; ++i) {
    add_set(columns, tasks, random);
  }
  Json rows = Json::array();
  for (const char* policy : {"fp", "rm", "np-fp", "edf", "np-edf"}) {
    const auto start = std::chrono::steady_clock::now();
    const auto answers = takt::analysis::analyse_sets({.policy = policy,
                                                       .first = columns.first,
                                                       .period = columns.period,
                                                       .deadline = columns.deadline,
                                                       .wcet = columns.wcet,
                                                       .priority = columns.priority});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::array<std::int64_t, 3> count{};
    for (const std::uint8_t answer : answers) {
      ++count.at(answer);
    }
    rows.push_back({{"policy", policy},
                    {"seconds", std::round(took.count() * 1000) / 1000},
                    {"accepted", count.at(1)},
                    {"unknown", count.at(2)}});
  }
  const Json document{{"schema_version", 1},
                      {"bench", "analysis"},
                      {"sets", sets},
                      {"tasks", tasks},
                      {"rows", rows}};
  std::puts(document.dump().c_str());
  return 0;
}
