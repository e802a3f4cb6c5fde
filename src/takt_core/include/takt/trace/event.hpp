// SPDX-License-Identifier: Apache-2.0
//
// One thing that happened to a job, in 32 bytes: the unit of a trace, in memory and in the file
// (docs/reference/trace.md). The executor and the simulator write the same events, so every metric,
// plot and explanation reads both.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace takt::trace {

// What `value` means is said beside each type; times and durations are nanoseconds.
enum class EventType : std::uint8_t {
  none = 0,     // never written: a zeroed record is not an event
  name = 1,     // not an event but a piece of a name, see NameRecord
  release = 2,  // time: intended release; value: absolute deadline, no_deadline if it has none
  skip = 3,     // releases dropped by the overrun policy; time, job: of the first; value: how many
  start = 4,    // value: the job's priority
  preempt = 5,  // written by the simulator; derived by the reader of an executor's trace
  resume = 6,   // as preempt
  end = 7,      // value: CPU time of the job, -1: not measured
  deadline_miss = 8,  // value: the absolute deadline
  deliver = 9,  // a pending message reached the task; value: age of the newest, -1: no data yet;
                // detail: number delivered, 255: that many or more
  age_violation = 10,  // the task ran on data older than it allows; value: the age, -1: no data yet
  budget_overrun = 11,  // value: CPU time of the job
  early_release = 12,   // released before its time to keep a data age; value: the regular release
  scenario = 13,        // the core follows another scenario from here on; value: its id
  overflow = 14,  // the ring of one thread was full; value: number of events lost since the last
  publish = 15,  // a message of `topic` was made; time: right before it was handed over; value: its
                 // sequence, counted for the topic from 0, whoever writes it; task no_task: by
                 // somebody outside of the application
  use = 16,      // the job computes on data of `topic`; value: sequence of the newest message that
                 // it has, -1: none yet
  stolen = 17,   // CPU time that the hypervisor gave to others instead of `core`: value, within the
                 // `job` nanoseconds before `time`
  dispatch = 18,  // value: CPU time of the thread between its last job and this one: choosing,
                  // going to sleep, waking up
  wait = 19,   // the job's thread could have run and did not, because something else had its core:
               // value, ns; detail 0: between its last job and this one; else in this one, and 1 +
               // how often it slept meanwhile (255: that often or more)
  boost = 20,  // the job, released or started, has a reader's priority now, which needs its data;
               // value: that priority; detail: started jobs that are still above it (255: or more)
};

// Shorter waits without a sleep are not recorded.
inline constexpr std::chrono::nanoseconds least_wait{10'000};

inline constexpr std::uint16_t no_task = 0xFFFF;
inline constexpr std::uint16_t no_topic = 0xFFFF;
inline constexpr std::uint16_t no_core = 0xFFFF;
inline constexpr std::int64_t no_deadline = INT64_MAX;

struct Event {
  std::int64_t time = 0;  // CLOCK_MONOTONIC or virtual time
  std::uint64_t job = 0;  // index of the release within its task, from 0
  std::int64_t value = 0;
  std::uint16_t task = no_task;
  std::uint16_t topic = no_topic;
  std::uint16_t core = no_core;
  EventType type = EventType::none;
  std::uint8_t detail = 0;

  bool operator==(const Event&) const = default;
};

// NOLINTNEXTLINE(performance-enum-size): as wide as Event::topic, in whose place it stands
enum class NameKind : std::uint16_t { task = 1, topic = 2, scenario = 3, attribute = 4 };

// Names lie among the events, so that a task which comes late can still be named. A name longer
// than one record goes on in the next ones, with parts counted from 0. An attribute is a text
// "key=value" about the whole trace, such as "policy=edf".
struct NameRecord {
  std::array<char, 24> text = {};
  std::uint16_t id = 0;
  NameKind kind = NameKind::task;
  std::uint16_t part = 0;
  EventType type = EventType::name;
  std::uint8_t bytes = 0;  // of text in this record
};

static_assert(sizeof(Event) == 32 && sizeof(NameRecord) == 32);
static_assert(offsetof(Event, type) == 30 && offsetof(NameRecord, type) == 30);
static_assert(std::is_trivially_copyable_v<Event> && std::is_trivially_copyable_v<NameRecord>);
static_assert(std::endian::native == std::endian::little, "the trace file is little endian");

}  // namespace takt::trace
