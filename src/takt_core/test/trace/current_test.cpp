// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/current.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace takt::trace {
namespace {

std::vector<Event> events_of(Ring& ring) {
  std::vector<Event> events(ring.capacity());
  events.resize(ring.pop(events));
  return events;
}

TEST(CurrentJob, WhatACallbackRecordsBelongsToItsJob) {
  Ring ring{8};
  Recorder recorder{&ring};
  record_in_job(EventType::use, os::now(), 1, 1);  // outside of a callback: nothing
  {
    const CurrentJob outer{recorder, 3, 7};
    record_in_job(EventType::publish, os::now(), 5, 42);
    {
      const CurrentJob inner{recorder, 4, 9};
      record_in_job(EventType::use, os::now(), 6, -1);
    }
    record_in_job(EventType::use, os::now(), 5, 42);
  }
  record_in_job(EventType::use, os::now(), 1, 1);
  const std::vector<Event> events = events_of(ring);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].type, EventType::publish);
  EXPECT_EQ(events[0].task, 3);
  EXPECT_EQ(events[0].job, 7U);
  EXPECT_EQ(events[0].topic, 5);
  EXPECT_EQ(events[0].value, 42);
  EXPECT_EQ(events[1].task, 4);
  EXPECT_EQ(events[1].job, 9U);
  EXPECT_EQ(events[2].task, 3);
}

TEST(CurrentJob, WithoutATraceNothingIsRecorded) {
  Recorder off;
  const CurrentJob current{off, 0, 0};
  record_in_job(EventType::publish, os::now(), 0, 0);
}

}  // namespace
}  // namespace takt::trace
