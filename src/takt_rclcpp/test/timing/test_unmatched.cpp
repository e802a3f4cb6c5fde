// SPDX-License-Identifier: Apache-2.0
//
// Entries of a timing file that match no callback.
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
      lines.push_back(entry.where.substr(path_of_file.size()) + " " + entry.problem + " (" +
                      entry.fix + ")");
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

const std::string no_callback = "; this entry matches nothing (";

TEST_F(UnmatchedEntries, whatMatchesIsNotReported) {
  EXPECT_EQ(of("node: /arm/planner"), "0 entries");
  EXPECT_EQ(of("kind: timer, ordinal: 1"), "0 entries");
  EXPECT_EQ(of("kind: subscription, name: /joints"), "0 entries");  // by pointer
  EXPECT_EQ(of("kind: service"), "0 entries");
  EXPECT_EQ(of("group: 1"), "0 entries");
}

TEST_F(UnmatchedEntries, aNodeIsReportedByName) {
  EXPECT_EQ(of("node: /arm/planer, kind: timer"),
            ":1 no node '/arm/planer' yet" + no_callback +
                "did you mean '/arm/planner'? Known: /arm/planner)");
}

TEST_F(UnmatchedEntries, aCallbackIsReportedByItsKindAndOrdinal) {
  EXPECT_EQ(of("node: /arm/planner, kind: client"),
            ":1 no kind 'client' yet with node '/arm/planner'" + no_callback +
                "Known: timer, subscription, intra_process)");
  EXPECT_EQ(of("node: /arm/planner, kind: timer, ordinal: 2"),
            ":1 no ordinal '2' yet with node '/arm/planner', kind 'timer'" + no_callback +
                "Known: 0, 1)");
}

TEST_F(UnmatchedEntries, aTopicIsReportedByName) {
  EXPECT_EQ(of("kind: subscription, name: /scans"),
            ":1 no name '/scans' yet with kind 'subscription'" + no_callback +
                "did you mean '/scan'? Known: /scan, /joints)");
}

TEST_F(UnmatchedEntries, aGroupIsReportedByItsNumber) {
  EXPECT_EQ(of("node: /arm/planner, group: 12"), ":1 no group '12' yet with node '/arm/planner'" +
                                                     no_callback +
                                                     "did you mean '1'? Known: 1, 0)");
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
  EXPECT_EQ(entries[1].fix, "none yet");
  EXPECT_EQ(said(content, robot()).size(), 2U);
}

TEST_F(UnmatchedEntries, otherRulesHaveNone) {
  EXPECT_TRUE(takt_rclcpp::unmatched_entries({}, {}).empty());
  EXPECT_TRUE(
      takt_rclcpp::unmatched_entries([](const CallbackId&) { return Timing{}; }, {}).empty());
}

}  // namespace
}  // namespace takt::test
