// SPDX-License-Identifier: Apache-2.0
//
// The traces of many processes become one, and none of them is gone before that is whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <takt/testing/temporary.hpp>
#include <takt/trace/reader.hpp>
#include <takt/trace/writer.hpp>

#include "merge.hpp"

namespace takt::runner {
namespace {

class Merge : public testing::Test {
 protected:
  std::filesystem::path part(const std::string& name, std::int64_t time) const {
    const auto path = folder_ / name;
    trace::TraceWriter writer{path, trace::Source::executor};
    writer.name(trace::NameKind::task, 0, name);
    writer.write(trace::Event{.time = time, .type = trace::EventType::start});
    writer.add_lost(1);
    writer.note_write_error(time == 20 ? 28 : 0);
    writer.close();
    return path;
  }

  const test::TemporaryFolder temporary_;
  const std::filesystem::path& folder_ = temporary_.path();
};

TEST_F(Merge, HoldsTheEventsTheLossesAndTheErrorsOfAllParts) {
  const auto merged = folder_ / "merged";
  const std::vector parts{part("one", 10), part("two", 20), folder_ / "never begun"};
  merge_traces(parts, merged, {{"policy", "baseline1"}});
  const trace::Trace trace = trace::read_trace(merged);
  EXPECT_EQ(trace.events.size(), 2U);
  EXPECT_EQ(trace.tasks.size(), 2U);
  EXPECT_EQ(trace.lost, 2U);
  EXPECT_EQ(trace.write_error, 28);
  EXPECT_FALSE(std::filesystem::exists(parts[0]));
  EXPECT_FALSE(std::filesystem::exists(parts[1]));
}

TEST_F(Merge, RemovesNoPartWhenItFails) {
  const auto broken = folder_ / "two";
  const std::vector parts{part("one", 10), broken};
  std::ofstream{broken} << "no trace";
  EXPECT_THROW(merge_traces(parts, folder_ / "merged", {}), std::runtime_error);
  EXPECT_EQ(trace::read_trace(parts[0]).events.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(broken));
}

// Two hosts, each with a core 1 of its own; the second one's clock is 1000 ns behind.
TEST_F(Merge, PutsTheTimesAndTheCoresOfHostsOneBesideTheOther) {
  const std::string robot =
      R"({"version": 1, "name": "r", "topics": [], "processes": [{"name": "a", "host": "pc", "cpu": 1, "priority": 5},)"
      R"( {"name": "b", "host": "arm", "cpu": 1, "priority": 5}], "callbacks": [)"
      R"({"name": "x.t", "node": "x", "kind": "timer", "period": 1000000, "process": "a",)"
      R"( "reads": [], "writes": [], "execution": {"worst": 9}},)"
      R"({"name": "y.t", "node": "y", "kind": "timer", "period": 1000000, "process": "b",)"
      R"( "reads": [], "writes": [], "execution": {"worst": 9}}]})";
  const auto recorded = [&](const std::string& host, const std::string& task) {
    const auto path = folder_ / host;
    trace::TraceWriter writer{path, trace::Source::executor};
    writer.attribute("application", robot);
    writer.attribute("cpus", "1");
    writer.name(trace::NameKind::task, 0, task);
    using trace::EventType;
    writer.write({.time = 50, .value = 90, .task = 0, .type = EventType::release});
    writer.write({.time = 60, .value = 7, .task = 0, .core = 1, .type = EventType::start});
    writer.write({.time = 70, .value = 5, .core = 0, .type = EventType::stolen});
    writer.write({.time = 80, .value = 5, .core = 1, .type = EventType::stolen});
    writer.close();
    return path;
  };
  const auto merged = folder_ / "merged";
  const PartOfHost pc{.host = "pc", .trace = recorded("pc", "x.t")};
  const PartOfHost arm{.host = "arm", .trace = recorded("arm", "y.t"), .clock_offset = 1000};
  merge_hosts({pc, arm}, merged);
  const trace::Trace trace = trace::read_trace(merged);
  ASSERT_EQ(trace.events.size(), 6U);
  std::map<std::pair<std::string, trace::EventType>, trace::Event> found;
  for (const trace::Event& event : trace.events) {
    const bool named = event.task != trace::no_task;
    found[{named ? trace.tasks.at(event.task) : std::to_string(event.core), event.type}] = event;
  }
  using trace::EventType;
  EXPECT_EQ((found[{"x.t", EventType::release}].time), 50);
  EXPECT_EQ((found[{"y.t", EventType::release}].time), 1050);
  EXPECT_EQ((found[{"y.t", EventType::release}].value), 1090);
  EXPECT_EQ((found[{"x.t", EventType::start}].core), 1);
  EXPECT_EQ((found[{"y.t", EventType::start}].core), 3);
  EXPECT_EQ((found[{"y.t", EventType::start}].value), 7);
  EXPECT_EQ((found[{"1", EventType::stolen}].time), 80);
  EXPECT_EQ((found[{"3", EventType::stolen}].time), 1080);
  for (const std::string text : {"host=pc 0", "host=arm 2", "cpus=1,3"}) {
    EXPECT_NE(std::ranges::find(trace.attributes, text), trace.attributes.end()) << text;
  }
  EXPECT_TRUE(std::filesystem::exists(pc.trace));
  EXPECT_THROW(merge_hosts({{.host = "leg", .trace = pc.trace}}, merged), std::runtime_error);
}

}  // namespace
}  // namespace takt::runner
