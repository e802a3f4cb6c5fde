// SPDX-License-Identifier: Apache-2.0
//
// Jobs that say themselves that they do not complete (takt/executor/current_job.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "../policies.hpp"
#include "support.hpp"
#include "takt/executor/current_job.hpp"
#include "takt/trace/reader.hpp"

namespace takt::test {
namespace {

TEST(unfinished, a_job_that_is_left_has_no_end_and_does_not_count_as_completed) {
  const TemporaryFile file;
  executor::Executor executor{{.policy = sched::fixed_priority(), .trace = file.path()}};
  os::Event done;
  std::uint64_t left = 0;  // index of the job
  std::uint64_t last = 0;
  int runs = 0;
  const auto added = executor.add({.name = "one", .parameters = {.period = 1ms, .priority = 10}},
                                  {.callback = [&](const auto& job) {
                                    ++runs;
                                    if (runs == 2) {
                                      left = job.index;
                                      executor::leave_job_unfinished();
                                    }
                                    if (runs == 4) {
                                      last = job.index;
                                      executor.request_stop();
                                      done.notify();
                                    }
                                  }});
  executor.start();
  done.wait();
  executor.stop();
  const trace::Trace trace = trace::read_trace(file.path());
  const auto count = [&](trace::EventType type, std::uint64_t job) {
    return std::ranges::count_if(trace.events, [&](const trace::Event& event) {
      return event.type == type && event.job == job;
    });
  };
  EXPECT_EQ(count(trace::EventType::start, left), 1);
  EXPECT_EQ(count(trace::EventType::end, left), 0);
  EXPECT_EQ(count(trace::EventType::end, last), 1);
  EXPECT_EQ(executor.statistics(added.index).completed, 3U);
}

TEST(unfinished, outside_of_callbacks_it_has_no_effect) {
  executor::leave_job_unfinished();
  EXPECT_EQ(executor::current_job(), nullptr);
}

}  // namespace
}  // namespace takt::test
