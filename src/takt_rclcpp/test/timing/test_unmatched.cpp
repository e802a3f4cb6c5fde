// SPDX-License-Identifier: Apache-2.0
//
// Entries of a timing file that are said of no callback.
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

class UnmatchedEntries : public WithFile {
 protected:
  // What is said of the file's entries by name, when these callbacks have come.
  [[nodiscard]] std::vector<std::string> said(const std::string& content,
                                              const std::vector<CallbackId>& there) const {
    const TimingFile file = load(content);
    for (const CallbackId& id : there) {
      static_cast<void>(file.rule(id));
    }
    std::vector<std::string> lines;
    for (const takt_rclcpp::Unmatched& entry : takt_rclcpp::unmatched_entries(file.rule, there)) {
      const std::string path_of_file = path().string();
      EXPECT_TRUE(entry.where.starts_with(path_of_file)) << entry.where;
      lines.push_back(entry.where.substr(path_of_file.size()) + " " + entry.problem + "; " +
                      entry.fix);
    }
    return lines;
  }
  // Of one entry.
  [[nodiscard]] std::string of(const std::string& keys) const {
    const auto lines = said("callbacks: [{" + keys + ", priority: 7}]", robot());
    return lines.size() == 1 ? lines.front() : std::to_string(lines.size()) + " entries";
  }

  static std::vector<CallbackId> robot() {
    return {{.node = "/arm/planner", .kind = CallbackKind::timer, .period = 10ms},
            {.node = "/arm/planner", .kind = CallbackKind::timer, .ordinal = 1, .period = 20ms},
            {.node = "/arm/planner",
             .kind = CallbackKind::subscription,
             .topic_or_service = "/scan",
             .group = 1},
            {.node = "/arm/planner",
             .kind = CallbackKind::intra_process,
             .topic_or_service = "/joints"},
            {.node = "/radar",
             .kind = CallbackKind::service,
             .topic_or_service = "/radar/get_parameters",
             .housekeeping = true}};
  }
};

const std::string no_callback = ", so that this entry is said of no callback; ";

TEST_F(UnmatchedEntries, whatMatchesIsNotReported) {
  EXPECT_EQ(of("node: /arm/planner"), "0 entries");
  EXPECT_EQ(of("kind: timer, ordinal: 1"), "0 entries");
  EXPECT_EQ(of("kind: subscription, name: /joints"), "0 entries");  // by pointer
  EXPECT_EQ(of("kind: service"), "0 entries");
  EXPECT_EQ(of("group: 1"), "0 entries");
}

TEST_F(UnmatchedEntries, aNodeIsReportedByName) {
  EXPECT_EQ(of("node: /arm/planer, kind: timer"),
            ":1 node '/arm/planer' was not seen so far" + no_callback +
                "did you mean '/arm/planner'? There are so far: /arm/planner");
}

TEST_F(UnmatchedEntries, aCallbackIsReportedByItsKindAndOrdinal) {
  EXPECT_EQ(of("node: /arm/planner, kind: client"),
            ":1 kind 'client' was not seen so far with node '/arm/planner'" + no_callback +
                "There are so far: timer, subscription, intra_process");
  EXPECT_EQ(of("node: /arm/planner, kind: timer, ordinal: 2"),
            ":1 ordinal '2' was not seen so far with node '/arm/planner', kind 'timer'" +
                no_callback + "There are so far: 0, 1");
}

TEST_F(UnmatchedEntries, aTopicIsReportedByName) {
  EXPECT_EQ(of("kind: subscription, name: /scans"),
            ":1 name '/scans' was not seen so far with kind 'subscription'" + no_callback +
                "did you mean '/scan'? There are so far: /scan, /joints");
}

TEST_F(UnmatchedEntries, aGroupIsReportedByItsNumber) {
  EXPECT_EQ(of("node: /arm/planner, group: 12"),
            ":1 group '12' was not seen so far with node '/arm/planner'" + no_callback +
                "did you mean '1'? There are so far: 1, 0");
}

TEST_F(UnmatchedEntries, eachHasItsLineAndWhatHasComeAndGoneHasMatched) {
  const std::string content =
      "callbacks:\n"
      "  - {node: /radar, priority: 3}\n"
      "  - {node: /rador, priority: 3}\n"
      "  - {node: /gone, priority: 3}\n";
  const TimingFile file = load(content);
  static_cast<void>(file.rule({.node = "/gone"}));
  const auto entries = takt_rclcpp::unmatched_entries(file.rule, {});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].where, path().string() + ":2");
  EXPECT_EQ(entries[1].where, path().string() + ":3");
  EXPECT_EQ(entries[1].fix, "there is none at all so far");
  EXPECT_EQ(said(content, robot()).size(), 2U);
}

TEST_F(UnmatchedEntries, otherRulesHaveNone) {
  EXPECT_TRUE(takt_rclcpp::unmatched_entries({}, {}).empty());
  EXPECT_TRUE(
      takt_rclcpp::unmatched_entries([](const CallbackId&) { return Timing{}; }, {}).empty());
}

}  // namespace
}  // namespace takt::test
