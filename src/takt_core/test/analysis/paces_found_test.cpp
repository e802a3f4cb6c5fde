// SPDX-License-Identifier: Apache-2.0
//
// Two chains on the same cores: sets that were made by hand, each of which has a run above its
// bound if one condition of eq. 46 (docs/reference/analysis.md) is left out.
#include <gtest/gtest.h>

#include <string>

#include "documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

std::string on_cpu(int cpu) {
  return ", 'cpu': " + std::to_string(cpu);
}

std::string publishes(const std::string& topic) {
  return ", 'writes': ['" + topic + "']";
}

// What the path's latency is bounded by, and what it is in a run with these offsets.
void expect_above_run(const std::string& policy, const std::string& callbacks,
                      const std::string& path, nanoseconds run, nanoseconds bound) {
  const application::Application two =
      parsed(app(callbacks, ", 'policy': '" + policy +
                                "', 'cpus': [0, 1], 'topics': ["
                                "{'name': 'x', 'depth': 9}, {'name': 'y', 'depth': 9}, "
                                "{'name': 'z', 'depth': 9}, {'name': 'u', 'depth': 9}, "
                                "{'name': 'w', 'depth': 9}, {'name': 'v', 'depth': 9}], "
                                "'chains': [{'name': 'path', 'callbacks': [" +
                                path + "]}]"));
  const sim::Result result = sim::simulate(two, {.duration = 1000ns});
  EXPECT_EQ(result.chains.front().latency.max, run);
  const ChainReport chain =
      analyse(two, {.sensitivity = false, .proposals = false}).scenarios.front().chains.front();
  EXPECT_EQ(chain.latency, bound) << chain.bound_by;
}

// a0 waits for b0, computes beside b1, waits for b2, ends beside b3; then a1 waits for the rest of
// b3. When b2 preempts it, a0 has computed what is not yet off the delay.
TEST(Paces, count_what_a_job_has_computed_when_it_is_preempted) {
  expect_above_run("fp",
                   timer("b0", 500, 20, 1, on_cpu(0) + publishes("u")) + "," +
                       message("b1", "u", 30, 1, on_cpu(1) + publishes("v")) + "," +
                       message("b2", "v", 10, 9, on_cpu(0) + publishes("w")) + "," +
                       message("b3", "w", 30, 9, on_cpu(1)) + "," +
                       timer("a0", 500, 40, 1, ", 'offset': 1" + on_cpu(0) + publishes("x")) + "," +
                       message("a1", "x", 10, 5, on_cpu(1)),
                   "'a0', 'a1'", 99ns, 100ns);
}

// b0 keeps the core from a0. Then b1 is behind a0, whose level is the same, and before a1; b2 still
// computes when a2 comes.
TEST(Paces, leave_jobs_of_one_level_in_the_order_of_their_releases) {
  const std::string more = on_cpu(0) + publishes("u");
  expect_above_run("np-fp",
                   timer("b0", 500, 10, 1, more) + "," +
                       message("b1", "u", 10, 5, on_cpu(0) + publishes("v")) + "," +
                       message("b2", "v", 30, 5, on_cpu(1)) + "," +
                       timer("a0", 500, 30, 5, ", 'offset': 1" + on_cpu(0) + publishes("x")) + "," +
                       message("a1", "x", 10, 5, on_cpu(0) + publishes("y")) + "," +
                       message("a2", "y", 10, 5, on_cpu(1)),
                   "'a0', 'a1', 'a2'", 89ns, 90ns);
}

// a0 preempts b1, which keeps a1 from the core, for they are in one group.
TEST(Paces, wait_for_a_job_that_the_one_before_has_preempted) {
  const std::string group = ", 'group': 'g'";
  expect_above_run("fp",
                   timer("b0", 500, 10, 6, on_cpu(1) + publishes("u")) + "," +
                       message("b1", "u", 50, 1, on_cpu(0) + group) + "," +
                       timer("a0", 500, 10, 9, ", 'offset': 20" + on_cpu(0) + publishes("x")) +
                       "," + message("a1", "x", 10, 3, on_cpu(0) + group + publishes("y")) + "," +
                       message("a2", "y", 10, 5, on_cpu(1)),
                   "'a0', 'a1', 'a2'", 70ns, 80ns);
}

// b1 preempts a0. Then b2 is above it, but a0 has started and is in a group with a2, which is above
// b2. So b2 computes beside a1, until b3 preempts that.
TEST(Paces, wait_behind_a_job_that_has_started_and_whose_ceiling_is_above_them) {
  const auto path = [](int offset) {
    const std::string group = on_cpu(0) + ", 'group': 'g'";
    return timer("a0", 500, 40, 1,
                 ", 'offset': " + std::to_string(offset) + group + publishes("x")) +
           "," + message("a1", "x", 10, 2, on_cpu(1) + publishes("y")) + "," +
           message("a2", "y", 10, 5, group);
  };
  const std::string then = message("b1", "u", 20, 9, on_cpu(0) + publishes("v")) + "," +
                           message("b2", "v", 5, 3, on_cpu(0) + publishes("z")) + "," +
                           message("b3", "z", 20, 9, on_cpu(1));
  const std::string all = "'a0', 'a1', 'a2'";
  expect_above_run("fp",
                   timer("b0", 500, 10, 1, on_cpu(1) + publishes("u")) + "," + then + "," + path(5),
                   all, 100ns, 100ns);
  expect_above_run("fp",
                   timer("b", 500, 10, 9, on_cpu(0) + publishes("w")) + "," +
                       message("b0", "w", 10, 1, on_cpu(1) + publishes("u")) + "," + then + "," +
                       path(1),
                   all, 109ns, 110ns);
}

}  // namespace
}  // namespace takt::analysis
