// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <algorithm>
#include <ctime>
#include <takt/executor/current_job.hpp>
#include <takt/os/clock.hpp>
#include <vector>

namespace takt::runner {
namespace {

// SplitMix64: Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;

std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EB;
  return value ^ (value >> 31U);
}

// The n-th number of a stream.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t n) noexcept {
  return mix(mix(mix(seed) + stream) + (n + 1) * golden);
}

}  // namespace

std::chrono::nanoseconds thread_cpu_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void compute_until(std::chrono::nanoseconds begin, std::chrono::nanoseconds time) noexcept {
  constexpr int steps = 200;  // some hundred ns between two looks at the clock, which is a call
  volatile std::uint64_t sink = 0;
  while (thread_cpu_time() - begin < time) {
    std::uint64_t value = sink;
    for (int step = 0; step < steps; ++step) {
      value = value * 6364136223846793005U + 1;
    }
    sink = value;
  }
}

std::size_t turns(const application::Callback& callback) noexcept {
  if (!callback.segments.empty() || !callback.task.waits) {
    return std::max<std::size_t>(callback.segments.size(), 1);
  }
  return 2 * static_cast<std::size_t>(std::max<std::int64_t>(callback.suspensions, 1)) + 1;
}

std::chrono::nanoseconds turn(const application::Callback& callback, std::size_t number,
                              std::chrono::nanoseconds time) noexcept {
  const bool waits = number % 2 == 1;
  const std::vector<application::Segment>& segments = callback.segments;
  if (segments.empty()) {
    const auto times = static_cast<std::int64_t>(turns(callback) / 2);
    return waits ? callback.suspension / times : time / (times + 1);
  }
  if (waits) {
    return segments[number].longest;
  }
  std::chrono::nanoseconds least{0};
  std::chrono::nanoseconds more{0};
  for (std::size_t i = 0; i < segments.size(); i += 2) {
    least += segments[i].shortest;
    more += segments[i].longest - segments[i].shortest;
  }
  const double share = more.count() > 0 ? static_cast<double>((time - least).count()) /
                                              static_cast<double>(more.count())
                                        : 1.0;
  const auto own =
      static_cast<double>((segments[number].longest - segments[number].shortest).count());
  return segments[number].shortest +
         std::chrono::nanoseconds{static_cast<std::int64_t>(share * own)};
}

void compute_and_wait(std::chrono::nanoseconds begin, std::chrono::nanoseconds time,
                      const application::Callback& callback) noexcept {
  compute_and_wait(begin, time, callback, [&](std::size_t number) {
    os::sleep_until(os::now() + turn(callback, number, time));
  });
}

std::chrono::nanoseconds in_its_scenario(std::chrono::nanoseconds time,
                                         std::chrono::nanoseconds declared) noexcept {
  const sched::Job* const job = executor::current_job();
  if (job == nullptr || declared.count() == 0 || job->expected_execution == declared) {
    return time;
  }
  const double factor =
      static_cast<double>(job->expected_execution.count()) / static_cast<double>(declared.count());
  return std::chrono::nanoseconds{
      static_cast<std::int64_t>(static_cast<double>(time.count()) * factor)};
}

std::chrono::nanoseconds DrawnTimes::of(std::uint64_t job) const noexcept {
  constexpr std::uint64_t streams = 2;  // of the simulator, for each callback: the first one
  constexpr double scale = 0x1p-53;
  return execution_->at(static_cast<double>(random_bits(seed_, streams * callback_, job) >> 11U) *
                        scale);
}

std::chrono::nanoseconds drawn_up_to(std::chrono::nanoseconds most, std::uint64_t seed,
                                     std::uint64_t stream, std::uint64_t n) noexcept {
  __extension__ using Wide = unsigned __int128;
  const auto values = static_cast<std::uint64_t>(most.count()) + 1;
  return std::chrono::nanoseconds{
      static_cast<std::int64_t>((Wide{values} * random_bits(seed, stream, n)) >> 64U)};
}

std::chrono::nanoseconds DrawnRequests::of(std::uint64_t job, std::size_t turn) const noexcept {
  constexpr std::uint64_t stream = std::uint64_t{1} << 32U;  // of the simulator
  const application::Segment& request = callback_->segments[turn];
  const std::uint64_t waits = turns(*callback_) / 2;
  return request.shortest + drawn_up_to(request.occupies - request.shortest, seed_, stream + place_,
                                        job * waits + turn / 2);
}

std::int64_t DrawnMessages::of(std::uint64_t job) const noexcept {
  constexpr std::uint64_t stream = std::uint64_t{1} << 35U;  // of the simulator
  const std::chrono::nanoseconds more{count_.most - count_.least};
  return count_.least + drawn_up_to(more, seed_, stream + place_, job * topics_ + topic_).count();
}

}  // namespace takt::runner
