// SPDX-License-Identifier: Apache-2.0
//
// What stands for the work of a callback: CPU time, as much as the description says. It is counted
// by the thread's CPU clock, so preemption does not shorten it. Messages are not part of it: they
// cost what they cost, on top.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <takt/application/application.hpp>

namespace takt::runner {

std::chrono::nanoseconds thread_cpu_time() noexcept;

// Computes until the thread has used `time` since it had used `begin`. Overshoots by less than a
// microsecond.
void compute_until(std::chrono::nanoseconds begin, std::chrono::nanoseconds time) noexcept;

// How often a job computes and waits in turn; it computes first and last.
std::size_t turns(const application::Callback& callback) noexcept;

// How long a job that computes for `time` in all does so, or waits, in this turn: with segments as
// they say, with the times of computing all at the same share of their ranges, as in the simulator;
// else it waits as long as it may in all (suspension), each time as long, and computes as much
// before, between and after the waits.
std::chrono::nanoseconds turn(const application::Callback& callback, std::size_t number,
                              std::chrono::nanoseconds time) noexcept;

// Computes until the thread has used `time` since it had used `begin`, and waits, turn by turn:
// `wait(number)` is for the turn of that number.
template <class Wait>
void compute_and_wait(std::chrono::nanoseconds begin, std::chrono::nanoseconds time,
                      const application::Callback& callback, Wait wait) noexcept {
  std::chrono::nanoseconds computed{0};
  for (std::size_t i = 0; i + 1 < turns(callback); i += 2) {
    computed += turn(callback, i, time);
    compute_until(begin, computed);
    wait(i + 1);
  }
  compute_until(begin, time);
}

// The same, where it waits for a time.
void compute_and_wait(std::chrono::nanoseconds begin, std::chrono::nanoseconds time,
                      const application::Callback& callback) noexcept;

// What the job that the calling thread runs computes, where it would compute `time` as the
// application declares it: a scenario that declares another worst case changes all of its times in
// proportion, as in the simulator. The same time outside of Takt's executor, which alone knows of
// scenarios.
std::chrono::nanoseconds in_its_scenario(std::chrono::nanoseconds time,
                                         std::chrono::nanoseconds declared) noexcept;

// A time up to `most`, each as often: the n-th of a stream of the simulator.
std::chrono::nanoseconds drawn_up_to(std::chrono::nanoseconds most, std::uint64_t seed,
                                     std::uint64_t stream, std::uint64_t n) noexcept;

// How long each job computes. The same seed gives the same times as in the simulator, whatever the
// approach and whichever jobs are skipped: a job's time depends on the seed, the callback's place
// and the job's index alone. (Within a nanosecond: the simulator interpolates in whole numbers.)
class DrawnTimes {
 public:
  DrawnTimes(const application::ExecutionTime& execution, std::uint64_t seed, std::size_t callback)
      : execution_{&execution}, seed_{seed}, callback_{callback} {}

  [[nodiscard]] std::chrono::nanoseconds of(std::uint64_t job) const noexcept;

 private:
  const application::ExecutionTime* execution_;
  std::uint64_t seed_;
  std::size_t callback_;
};

// How long each job occupies devices: as long as in the simulator with the same seed.
class DrawnRequests {
 public:
  // `place`: of the callback in the application.
  DrawnRequests(const application::Callback& callback, std::uint64_t seed, std::size_t place)
      : callback_{&callback}, seed_{seed}, place_{place} {}

  // In the wait of that turn.
  [[nodiscard]] std::chrono::nanoseconds of(std::uint64_t job, std::size_t turn) const noexcept;

 private:
  const application::Callback* callback_;
  std::uint64_t seed_;
  std::size_t place_;
};

// How many messages each job publishes on a topic: as many as in the simulator with the same seed.
class DrawnMessages {
 public:
  // `place`: of the callback in the application; `topic`: of the topic in what it writes.
  DrawnMessages(const application::Callback& callback, std::uint64_t seed, std::size_t place,
                std::size_t topic)
      : count_{callback.messages_on(callback.task.writes[topic])},
        seed_{seed},
        place_{place},
        topic_{topic},
        topics_{callback.task.writes.size()} {}

  [[nodiscard]] std::int64_t of(std::uint64_t job) const noexcept;

 private:
  application::MessageCount count_;
  std::uint64_t seed_;
  std::size_t place_;
  std::size_t topic_;
  std::size_t topics_;
};

}  // namespace takt::runner
