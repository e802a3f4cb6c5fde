// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/bus_loop.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "recorded.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t all = 48;

/// A bus whose cycles come back as its script says; after the script, as they should.
class ScriptedBus : public Bus {
 public:
  enum class Step { right, short_of_one, of_two, lost, broken };

  explicit ScriptedBus(std::deque<Step> script = {}) : script_{std::move(script)} {}

  std::uint16_t slaves() const noexcept override { return 16; }
  std::uint16_t expected_counter() const noexcept override { return all; }
  std::uint64_t foreign_frames() const noexcept override { return 7; }

  std::optional<BusCycle> exchange() noexcept override {
    const Step step = script_.empty() ? Step::right : script_.front();
    if (!script_.empty()) {
      script_.pop_front();
    }
    const auto sent = os::now();
    switch (step) {
      case Step::short_of_one:
        return cycle(sent, all - 3, 15);
      case Step::of_two:
        return cycle(sent, all - 6, 14);
      case Step::lost:
        return BusCycle{.sent = sent, .received = never};
      case Step::broken:
        broken_ = true;
        return {};
      default:
        return cycle(sent, all, 16);
    }
  }

  std::optional<os::NotGranted> problem() const override {
    return broken_ ? std::optional{os::NotGranted{.what = "broken", .why = "w", .fix = "f"}}
                   : std::nullopt;
  }

 private:
  static BusCycle cycle(os::TimePoint sent, int counter, int operational) {
    return {.sent = sent,
            .received = os::now(),
            .working_counter = static_cast<std::uint16_t>(counter),
            .operational = static_cast<std::uint16_t>(operational)};
  }

  std::deque<Step> script_;
  bool broken_ = false;
};

using Step = ScriptedBus::Step;

Options asked(std::uint64_t count) {
  Options options;
  options.kind = Kind::ethercat;
  options.period = 200us;
  options.count = count;
  return options;
}

/// The counter of each cycle of the samples, by the report alone; none for a lost one.
std::vector<std::optional<std::uint16_t>> counters(const BusReport& report,
                                                   const std::vector<Sample>& samples) {
  std::vector<std::optional<std::uint16_t>> found;
  for (const Sample& sample : samples) {
    std::optional<std::uint16_t> counter;
    for (const BusReport::Change& one : report.changes) {
      if (one.cycle <= sample.sequence && sample.received != 0) {
        counter = one.working_counter;
      }
    }
    found.push_back(counter);
  }
  return found;
}

TEST(BusLoop, records_every_cycle_with_its_intended_time) {
  os::StopFlag stop;
  ScriptedBus bus;
  const auto [outcome, samples] =
      run_recorded(asked(20), stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_FALSE(outcome.problem);
  EXPECT_EQ(outcome.sent, 20U);
  EXPECT_EQ(outcome.received, 20U);
  ASSERT_EQ(samples.size(), 20U);
  for (std::size_t k = 0; k < samples.size(); ++k) {
    EXPECT_EQ(samples[k].sequence, k);
    EXPECT_EQ(samples[k].intended - samples[0].intended, static_cast<std::int64_t>(k) * 200'000);
    EXPECT_GE(samples[k].sent, samples[k].intended);
    EXPECT_GE(samples[k].received, samples[k].sent);
  }
  ASSERT_TRUE(outcome.bus);
  EXPECT_EQ(outcome.bus->slaves, 16);
  EXPECT_EQ(outcome.bus->wrong_counter, 0U);
  EXPECT_EQ(outcome.bus->changes.size(), 1U);
  EXPECT_EQ(outcome.bus->foreign_frames, 7U);
}

TEST(BusLoop, reports_the_counter_of_every_cycle) {
  os::StopFlag stop;
  ScriptedBus bus{
      {Step::right, Step::short_of_one, Step::short_of_one, Step::lost, Step::of_two, Step::right}};
  const auto [outcome, samples] =
      run_recorded(asked(8), stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  EXPECT_FALSE(outcome.problem);  // in the end all slaves take part
  EXPECT_EQ(outcome.lost, 1U);
  EXPECT_EQ(outcome.bus->wrong_counter, 3U);
  const std::vector<std::optional<std::uint16_t>> expected{48, 45, 45, {}, 42, 48, 48, 48};
  EXPECT_EQ(counters(*outcome.bus, samples), expected);
}

TEST(BusLoop, ends_with_the_slaves_that_were_lost) {
  os::StopFlag stop;
  ScriptedBus bus{{Step::right, Step::right, Step::short_of_one, Step::short_of_one}};
  const auto [outcome, samples] =
      run_recorded(asked(4), stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  EXPECT_TRUE(outcome.finished);
  ASSERT_TRUE(outcome.problem);
  EXPECT_EQ(outcome.problem->what, "slaves were lost in mid-run");
  EXPECT_NE(outcome.problem->why.find("from cycle 2 "), std::string::npos) << outcome.problem->why;
  EXPECT_NE(outcome.problem->why.find("45, not 48"), std::string::npos) << outcome.problem->why;
  EXPECT_NE(outcome.problem->why.find("15 of 16"), std::string::npos) << outcome.problem->why;
  EXPECT_EQ(samples.size(), 4U);
}

TEST(BusLoop, gives_up_a_segment_that_does_not_answer) {
  os::StopFlag stop;
  ScriptedBus bus{{Step::right, Step::lost, Step::lost, Step::right, Step::lost, Step::lost,
                   Step::lost, Step::lost}};
  const auto [outcome, samples] =
      run_recorded(asked(100), stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  EXPECT_FALSE(outcome.finished);
  ASSERT_TRUE(outcome.problem);
  EXPECT_EQ(outcome.problem->what, "the segment does not answer any more");
  EXPECT_EQ(samples.size(), 7U);
  EXPECT_EQ(outcome.lost, 5U);
  EXPECT_EQ(outcome.received, 2U);
}

TEST(BusLoop, passes_on_why_a_cycle_failed) {
  os::StopFlag stop;
  ScriptedBus bus{{Step::right, Step::broken}};
  const auto [outcome, samples] =
      run_recorded(asked(10), stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  ASSERT_TRUE(outcome.problem);
  EXPECT_EQ(outcome.problem->what, "broken");
  EXPECT_EQ(samples.size(), 1U);
}

TEST(BusLoop, ends_when_asked_to) {
  os::StopFlag stop;
  stop.request();
  ScriptedBus bus;
  const auto [outcome, samples] =
      run_recorded(asked(10), stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  EXPECT_FALSE(outcome.finished);
  EXPECT_FALSE(outcome.problem);
  EXPECT_TRUE(samples.empty());
}

TEST(BusLoop, keeps_so_many_changes_and_counts_the_others) {
  os::StopFlag stop;
  std::deque<Step> script;
  for (std::size_t k = 0; k < BusReport::most_changes + 100; ++k) {
    script.push_back(k % 2 == 0 ? Step::right : Step::short_of_one);
  }
  ScriptedBus bus{script};
  Options options = asked(script.size() + 1);
  options.period = 1us;
  const auto [outcome, samples] =
      run_recorded(options, stop, [&](const Bench& bench) { return bus_cycles(bench, bus); });
  EXPECT_EQ(outcome.bus->changes.size(), BusReport::most_changes);
  EXPECT_EQ(outcome.bus->changes_left_out, 101U);
  EXPECT_EQ(outcome.bus->wrong_counter, script.size() / 2);
}

}  // namespace
}  // namespace takt::probe
