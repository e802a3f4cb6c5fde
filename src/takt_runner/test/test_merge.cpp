// SPDX-License-Identifier: Apache-2.0
//
// The traces of many processes become one, and none of them is gone before that is whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <takt/trace/reader.hpp>
#include <takt/trace/writer.hpp>

#include "merge.hpp"

namespace takt::runner {
namespace {

class Merge : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

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

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("takt-merge-" + std::to_string(getpid()));
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

}  // namespace
}  // namespace takt::runner
