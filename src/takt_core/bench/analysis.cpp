// SPDX-License-Identifier: Apache-2.0
//
// bench_analysis [SETS [TASKS]]: time for the verdict of random sets of one core under each policy,
// as JSON. Utilizations from 0.5 to 0.95 (UUniFast, Bini & Buttazzo 2005), periods log-uniform from
// 10 ms to 1 s in steps of 0.1 ms, deadlines from 0.8 to 1 period; priorities by deadline.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "takt/analysis/batch.hpp"

namespace {

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
  const auto number = [&](int index, std::int64_t otherwise) -> std::int64_t {
    return argc > index ? std::strtoll(argv[index], nullptr, 10) : otherwise;
  };
  const std::int64_t sets = number(1, 10'000);
  const std::int64_t tasks = number(2, 50);
  if (sets <= 0 || tasks <= 0) {
    std::fprintf(stderr,
                 "usage: bench_analysis [SETS [TASKS]]\nexample: bench_analysis 10000 50\n");
    return 2;
  }
  // NOLINTNEXTLINE(bugprone-random-generator-seed): the same sets each time
  std::mt19937_64 random{1};
  Columns columns;
  for (std::int64_t i = 0; i < sets; ++i) {
    add_set(columns, tasks, random);
  }
  std::printf(
      R"({"schema_version": 1, "bench": "analysis", "sets": %lld, "tasks": %lld, "rows": [)",
      static_cast<long long>(sets), static_cast<long long>(tasks));
  const char* separator = "\n  ";
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
    std::printf(R"(%s{"policy": "%s", "seconds": %.3f, "accepted": %lld, "unknown": %lld})",
                separator, policy, took.count(), static_cast<long long>(count.at(1)),
                static_cast<long long>(count.at(2)));
    separator = ",\n  ";
  }
  std::printf("]}\n");
  return 0;
}
