// SPDX-License-Identifier: Apache-2.0
/// @file
/// One event of a job, in 32 bytes: the unit of a trace, in memory and in the file
/// (docs/reference/trace.md). Executor and simulator write the same events, so every metric, plot
/// and explanation reads both.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace takt::trace {

/// The kind of an event, with the meaning of Event::value; times and durations are nanoseconds.
enum class EventType : std::uint8_t {
  none = 0,     ///< never written: a zeroed record is not an event
  name = 1,     ///< not an event but a piece of a name, see NameRecord
  release = 2,  ///< time: intended release; value: absolute deadline, no_deadline if it has none
  skip = 3,   ///< releases dropped by the overrun policy; time, job: of the first; value: how many
  start = 4,  ///< value: the job's priority
  preempt = 5,        ///< written by the simulator; derived by the reader of an executor's trace
  resume = 6,         ///< as preempt
  end = 7,            ///< value: CPU time of the job, -1: not measured
  deadline_miss = 8,  ///< value: the absolute deadline
  /// a pending message reached the task; value: age of the newest, -1: no data yet; detail: number
  /// delivered, 255: that many or more
  deliver = 9,
  age_violation = 10,  ///< the task ran on data older than allowed; value: the age, -1: no data yet
  budget_overrun = 11,  ///< value: CPU time of the job
  early_release = 12,   ///< released early to keep a data age; value: the regular release
  scenario = 13,        ///< the core follows another scenario from here on; value: its id
  overflow = 14,  ///< the ring of a thread was full; value: events lost since the previous overflow
  /// a message of `topic` was made; time: right before it was handed over; value: its sequence
  /// number, counted for the topic from 0 over all writers; task no_task: by a writer outside of
  /// the application
  publish = 15,
  /// the job computes on data of `topic`; value: sequence number of the newest message that it has,
  /// -1: none yet
  use = 16,
  /// value: CPU time that the hypervisor gave to others instead of `core`, within the `job`
  /// nanoseconds before `time`
  stolen = 17,
  /// value: CPU time of the thread between its previous job and this one: choosing, going to sleep,
  /// waking up
  dispatch = 18,
  /// value: how long the job's thread was runnable without running, because another thread had its
  /// core; detail 0: between its previous job and this one; otherwise during this one, and 1 + how
  /// often it slept meanwhile (255: that often or more)
  wait = 19,
  /// the job, released or started, now has the priority of a reader that needs its data; value:
  /// that priority; detail: started jobs that are still above it (255: or more)
  boost = 20,
  /// the job needs a lock that another one holds; topic: the lock's number in the application;
  /// value: the task that holds it
  lock_wait = 21,
  /// the job has that lock now; topic: as in lock_wait
  lock = 22,
};

/// Shorter waits without a sleep are not recorded.
inline constexpr std::chrono::nanoseconds least_wait{10'000};

/// Event::task of events without a task.
inline constexpr std::uint16_t no_task = 0xFFFF;
/// Event::topic of events without a topic.
inline constexpr std::uint16_t no_topic = 0xFFFF;
/// Event::core of events without a core.
inline constexpr std::uint16_t no_core = 0xFFFF;
/// Value of a release without a deadline.
inline constexpr std::int64_t no_deadline = INT64_MAX;

/// One event.
struct Event {
  std::int64_t time = 0;             ///< Nanoseconds of CLOCK_MONOTONIC or of virtual time.
  std::uint64_t job = 0;             ///< Index of the release within its task, from 0.
  std::int64_t value = 0;            ///< See EventType.
  std::uint16_t task = no_task;      ///< Index of the task.
  std::uint16_t topic = no_topic;    ///< Number of the topic, or of the lock.
  std::uint16_t core = no_core;      ///< Number of the CPU.
  EventType type = EventType::none;  ///< The kind of the event.
  std::uint8_t detail = 0;           ///< See EventType.

  bool operator==(const Event&) const = default;
};

/// What a name belongs to.
// NOLINTNEXTLINE(performance-enum-size): as wide as Event::topic, in whose place it stands
enum class NameKind : std::uint16_t {
  task = 1,       ///< Event::task
  topic = 2,      ///< Event::topic
  scenario = 3,   ///< the value of EventType::scenario
  attribute = 4,  ///< the whole trace
};

/// A piece of a name. Names are stored among the events, so that a task that is added later can
/// still be named. A name longer than one record continues in the next ones, with parts counted
/// from 0. An attribute is a text "key=value" about the whole trace, such as "policy=edf".
struct NameRecord {
  std::array<char, 24> text = {};    ///< The bytes of this piece, UTF-8.
  std::uint16_t id = 0;              ///< Number of the named task, topic or scenario.
  NameKind kind = NameKind::task;    ///< What is named.
  std::uint16_t part = 0;            ///< Number of this piece, from 0.
  EventType type = EventType::name;  ///< EventType::name, at the same place as in Event.
  std::uint8_t bytes = 0;            ///< Bytes of `text` in use.
};

static_assert(sizeof(Event) == 32 && sizeof(NameRecord) == 32);
static_assert(offsetof(Event, type) == 30 && offsetof(NameRecord, type) == 30);
static_assert(std::is_trivially_copyable_v<Event> && std::is_trivially_copyable_v<NameRecord>);
static_assert(std::endian::native == std::endian::little, "the trace file is little endian");

}  // namespace takt::trace
