// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"
#include "takt/trace/tracer.hpp"

namespace takt::trace {
namespace {

TEST(TraceRing, KeepsOrderAndCountsEveryEventThatItDrops) {
  Ring ring{100};
  ASSERT_EQ(ring.capacity(), 128U);
  for (std::uint64_t job = 0; job < 200; ++job) {
    EXPECT_EQ(ring.push({.job = job}), job < 128);
  }
  EXPECT_EQ(ring.lost(), 72U);
  std::array<Event, 300> taken;
  ASSERT_EQ(ring.pop(taken), 128U);
  for (std::uint64_t job = 0; job < 128; ++job) {
    EXPECT_EQ(taken[job].job, job);
  }
  EXPECT_TRUE(ring.push({.job = 1}));
}

TEST(TraceRing, LosesNothingUncountedBetweenTwoThreads) {
  constexpr std::uint64_t events = 300'000;
  Ring ring{64};
  std::vector<std::uint64_t> jobs;
  jobs.reserve(events);
  std::atomic<bool> done{false};
  std::thread producer{[&] {
    for (std::uint64_t job = 0; job < events; ++job) {
      ring.push({.job = job, .value = static_cast<std::int64_t>(job)});
    }
    done = true;
  }};
  std::array<Event, 37> batch;
  for (bool last = false;;) {
    const std::size_t count = ring.pop(batch);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(static_cast<std::uint64_t>(batch[i].value), batch[i].job);  // not torn
      jobs.push_back(batch[i].job);
    }
    if (count == 0) {
      if (last) {
        break;
      }
      last = done;
    }
  }
  producer.join();
  EXPECT_EQ(jobs.size() + ring.lost(), events);
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    ASSERT_LT(jobs[i - 1], jobs[i]);
  }
}

TEST(Tracer, WritesWhatManyThreadsRecordAndShowsWhatItLost) {
  const test::TemporaryFile file;
  constexpr int threads = 4;
  constexpr std::uint64_t events = 50'000;
  std::uint64_t lost = 0;
  {
    Tracer tracer{file.path(),
                  {.ring_capacity = 1024, .drain_period = std::chrono::milliseconds{1}}};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < threads; ++worker) {
      workers.emplace_back([recorder = tracer.add_thread(), worker]() mutable {
        for (std::uint64_t job = 0; job < events; ++job) {
          recorder.record(EventType::end, os::now(), static_cast<std::uint32_t>(worker), job);
        }
      });
    }
    for (std::thread& worker : workers) {
      worker.join();
    }
    EXPECT_EQ(tracer.stop(), "");
    lost = tracer.lost();
  }
  const Trace trace = read_trace(file.path());
  EXPECT_TRUE(trace.closed_in_order);
  EXPECT_EQ(trace.lost, lost);
  std::vector<std::uint64_t> next(threads, 0);
  std::uint64_t overflown = 0;
  std::uint64_t read = 0;
  for (const Event& event : trace.events) {
    if (event.type == EventType::overflow) {
      overflown += static_cast<std::uint64_t>(event.value);
      continue;
    }
    if (event.type == EventType::stolen) {
      continue;  // a virtual machine was robbed meanwhile
    }
    ASSERT_GE(event.job, next[event.task]);
    next[event.task] = event.job + 1;
    ++read;
  }
  EXPECT_EQ(overflown, lost);
  EXPECT_EQ(read + lost, threads * events);
}

TEST(Recorder, WithoutARingRecordsNothing) {
  Recorder recorder;
  EXPECT_FALSE(recorder.on());
  recorder.record(EventType::start, os::now(), 1, 2);
}

}  // namespace
}  // namespace takt::trace
