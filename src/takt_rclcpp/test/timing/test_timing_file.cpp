// SPDX-License-Identifier: Apache-2.0
//
// What a timing file says, key by key, and what it refuses.
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

class TimingFiles : public WithFile {
 protected:
  // Of the one entry with these keys.
  [[nodiscard]] Timing with(const std::string& keys, const CallbackId& id = scan()) const {
    return timing("callbacks: [{" + keys + "}]", id);
  }
  [[nodiscard]] bool matches(const std::string& keys, const CallbackId& id) const {
    return with(keys + ", priority: 7", id).priority == 7;
  }
  static CallbackId scan() {
    return {.node = "/arm/guard",
            .kind = CallbackKind::subscription,
            .topic_or_service = "/scan",
            .ordinal = 0,
            .group = 1};
  }
  static CallbackId timer() {
    return {.node = "/arm/guard", .kind = CallbackKind::timer, .ordinal = 2, .period = 10ms};
  }
};

TEST_F(TimingFiles, whatIsNotSaidIsTheExecutorsDefault) {
  for (const std::string content : {"callbacks: []", "callbacks:", "{}", "policy: fp",
                                    "callbacks: [{node: /other, priority: 3}]"}) {
    const TimingFile file = load(content);
    const Timing timing = file.rule(scan());
    EXPECT_EQ(timing.priority, 0) << content;
    EXPECT_EQ(timing.deadline, 0ns);
    EXPECT_EQ(timing.period, 0ns);
    EXPECT_EQ(timing.expected_execution, 0ns);
    EXPECT_EQ(timing.budget, 0ns);
    EXPECT_EQ(timing.cpu, -1);
    EXPECT_FALSE(timing.overrun);
    EXPECT_FALSE(timing.waits);
    EXPECT_TRUE(timing.reads.empty());
    EXPECT_TRUE(file.cpus.empty());
  }
  EXPECT_EQ(load("callbacks: []").policy, nullptr);
}

TEST_F(TimingFiles, ofTheExecutor) {
  const TimingFile file = load("policy: edf\ncpus: [3, 1]\n");
  ASSERT_NE(file.policy, nullptr);
  EXPECT_EQ(file.policy->name(), "edf");
  EXPECT_EQ(file.cpus, (std::vector{3, 1}));
}

TEST_F(TimingFiles, whatIsSaidOfThreadsIsOfAnotherProgram) {
  const TimingFile file = load("cpus: [1]\nthreads:\n  - {name: dds.*, priority: 30}\n");
  EXPECT_EQ(file.cpus, std::vector{1});
  EXPECT_TRUE(file.rule(scan()).is_default());
}

TEST_F(TimingFiles, ofACallback) {
  EXPECT_EQ(with("priority: 98").priority, 98);
  EXPECT_EQ(with("priority: 1").priority, 1);
  EXPECT_EQ(with("deadline: 5 ms").deadline, 5ms);
  EXPECT_EQ(with("period: 20ms").period, 20ms);
  EXPECT_EQ(with("expected_execution: 250 us").expected_execution, 250us);
  EXPECT_EQ(with("budget: 1 s").budget, 1s);
  EXPECT_EQ(with("cpu: 3").cpu, 3);
  EXPECT_EQ(with("waits: true").waits, true);
  EXPECT_EQ(with("waits: false").waits, false);
}

TEST_F(TimingFiles, lengthsOfTimeHaveUnits) {
  EXPECT_EQ(with("deadline: 1ns").deadline, 1ns);
  EXPECT_EQ(with("deadline: 2.5 ms").deadline, 2500us);
  EXPECT_EQ(with("deadline: '3   us'").deadline, 3us);
  EXPECT_EQ(with("deadline: 3 \u00b5s").deadline, 3us);
  EXPECT_EQ(with("deadline: 3\u03bcs").deadline, 3us);
  EXPECT_EQ(with("deadline: 0.1 s").deadline, 100ms);
  EXPECT_EQ(with("deadline: 2 min").deadline, 2min);
  EXPECT_EQ(with("deadline: 1h").deadline, 1h);
  EXPECT_EQ(with("deadline: 876000 h").deadline, sched::longest_time);
}

TEST_F(TimingFiles, topicsThatAreRead) {
  const Timing aged = with("reads: {/scan: {max_age: 15 ms}, /map: {}, /odom: }");
  ASSERT_EQ(aged.reads.size(), 3U);
  EXPECT_EQ(aged.reads[0].topic, "/scan");
  EXPECT_EQ(aged.reads[0].max_age, 15ms);
  EXPECT_EQ(aged.reads[1].topic, "/map");
  EXPECT_EQ(aged.reads[1].max_age, sched::Read{}.max_age);
  EXPECT_EQ(aged.reads[2].topic, "/odom");
  EXPECT_TRUE(with("reads: {}").reads.empty());
}

TEST_F(TimingFiles, anEntryIsForTheCallbacksThatItNames) {
  EXPECT_TRUE(matches("node: /arm/guard", scan()));
  EXPECT_FALSE(matches("node: /guard", scan()));
  EXPECT_FALSE(matches("node: /arm_guard", scan()));
  EXPECT_TRUE(matches("kind: subscription", scan()));
  EXPECT_FALSE(matches("kind: timer", scan()));
  EXPECT_TRUE(matches("name: /scan", scan()));
  EXPECT_FALSE(matches("name: /arm/scan", scan()));
  EXPECT_FALSE(matches("name: /scan", timer()));
  EXPECT_TRUE(matches("ordinal: 2", timer()));
  EXPECT_FALSE(matches("ordinal: 1", timer()));
  EXPECT_TRUE(matches("group: 1", scan()));
  EXPECT_FALSE(matches("group: 0", scan()));
  EXPECT_TRUE(
      matches("node: /arm/guard, kind: subscription, name: /scan, ordinal: 0, group: 1", scan()));
  EXPECT_FALSE(matches("node: /arm/guard, kind: subscription, name: /scan, ordinal: 1", scan()));
}

TEST_F(TimingFiles, everyKindIsKnown) {
  for (const CallbackKind kind :
       {CallbackKind::timer, CallbackKind::subscription, CallbackKind::intra_process,
        CallbackKind::service, CallbackKind::client, CallbackKind::qos_event,
        CallbackKind::waitable}) {
    CallbackId id = scan();
    id.kind = kind;
    EXPECT_TRUE(matches("kind: " + std::string{to_text(kind)}, id)) << to_text(kind);
  }
}

// A subscription has two callbacks in rclcpp where nodes pass pointers; for its author it is one.
TEST_F(TimingFiles, ofASubscriptionIsOfItsPointersToo) {
  CallbackId pointers = scan();
  pointers.kind = CallbackKind::intra_process;
  EXPECT_TRUE(matches("kind: subscription", pointers));
  EXPECT_TRUE(matches("kind: intra_process", pointers));
  EXPECT_FALSE(matches("kind: intra_process", scan()));
}

TEST_F(TimingFiles, whatALaterEntrySaysCounts) {
  const std::string content = R"(
callbacks:
  - {priority: 10, deadline: 30 ms, reads: {/scan: {}}}
  - {node: /arm/guard, priority: 20}
  - {node: /other, priority: 90}
  - {kind: timer, deadline: 5 ms, reads: {}}
)";
  const Timing of_scan = timing(content, scan());
  EXPECT_EQ(of_scan.priority, 20);
  EXPECT_EQ(of_scan.deadline, 30ms);
  EXPECT_EQ(of_scan.reads.size(), 1U);
  const Timing of_timer = timing(content, timer());
  EXPECT_EQ(of_timer.priority, 20);
  EXPECT_EQ(of_timer.deadline, 5ms);
  EXPECT_TRUE(of_timer.reads.empty());
  EXPECT_EQ(timing(content, {.node = "/third"}).priority, 10);
}

// A rule outlives its file, and may be asked from any thread.
TEST_F(TimingFiles, theRuleOutlivesTheFile) {
  const auto rule = load("callbacks: [{node: /arm/guard, priority: 7}]").rule;
  std::filesystem::remove(path());
  const auto copy = rule;
  EXPECT_EQ(copy(scan()).priority, 7);
}

struct Refused {
  std::string content;
  std::string said;  // line, problem and fix: a part of them
};

class Refusals : public TimingFiles, public testing::WithParamInterface<Refused> {};

TEST_P(Refusals, reportLineProblemAndFix) {
  const auto& [content, said] = GetParam();
  const std::string refused = refusal(content);
  EXPECT_NE(refused.find(said), std::string::npos) << content << "\nsaid: " << refused;
}

std::string entry(const std::string& keys) {
  return "policy: fp\ncallbacks:\n  - node: /a\n    " + keys + "\n";
}

constexpr const char* no_time = " is no length of time. Fix: write a number with ns, us, ms, s,";

INSTANTIATE_TEST_SUITE_P(
    Keys, Refusals,
    testing::Values(
        Refused{"",
                "a table of keys and values is expected here. Fix: write 'key: value' lines;"
                " known keys: policy, cpus, callbacks"},
        Refused{"- a", "1: a table of keys"},
        Refused{"\npolicies: fp", "2: unknown key 'policies'. Fix: known keys here: policy, "},
        Refused{"policy: fp\npolicy: fp", "2: key 'policy' stands here twice. Fix: keep one"},
        Refused{"policy: fastest", "1: "}, Refused{"policy:", "1: a word or number is expected"},
        Refused{"policy: [fp]", "1: a word or number is expected here. Fix: write one"},
        Refused{"cpus: 1", "1: a list is expected here. Fix: write [a, b] or lines with '- '"},
        Refused{"cpus: [-1]", "1: '-1' is no whole number from 0 to 4095. Fix: write such"},
        Refused{"cpus: [4096]", "1: '4096' is no whole number"},
        Refused{"cpus: [1, 2, 1]", "1: core 1 stands here twice. Fix: keep one"},
        Refused{"callbacks: {a: b}", "1: a list is expected here"},
        Refused{"callbacks: [5]", "1: a table of keys"},
        Refused{entry("prority: 5"), "4: unknown key 'prority'. Fix: known keys here: node, "},
        Refused{entry("node: /b"), "4: key 'node' stands here twice"},
        Refused{entry("priority: 0"), "4: '0' is no whole number from 1 to 98"},
        Refused{entry("priority: 99"), "4: '99' is no whole number from 1 to 98"},
        Refused{entry("priority: 5.5"), "4: '5.5' is no whole number"},
        Refused{entry("priority: high"), "4: 'high' is no whole number"},
        Refused{entry("priority: 99999999999999999999999"), "4: '9999"},
        Refused{entry("priority: {}"), "4: a word or number is expected"},
        Refused{entry("cpu: -1"), "4: '-1' is no whole number"},
        Refused{"cpus: [1, 2]\n" + entry("cpu: 3"),
                "5: core 3 is none of cpus. Fix: name one of them, or add it there"},
        Refused{"policy: edf\ncallbacks:\n  - {node: /a, waits: true}",
                "3: policy 'edf' has no rule for callbacks that wait inside. Fix: use a policy"},
        Refused{"policy: np-fp\ncallbacks:\n  - {node: /a, waits: true}", "3: policy 'np-fp' has"},
        Refused{entry("ordinal: -1"), "4: '-1' is no whole number"},
        Refused{entry("ordinal: 4294967296"), "4: '4294967296' is no whole number"},
        Refused{entry("waits: maybe"), "4: 'maybe' is neither true nor false. Fix: write true"},
        Refused{entry("waits: yes"), "4: 'yes' is neither"},
        Refused{entry("kind: timers"),
                "4: unknown kind of callback 'timers'. Fix: known kinds: "
                "timer, subscription, intra_process, service, client, "
                "qos_event, waitable"},
        Refused{entry("kind: timer\n  - node: planner"),
                "5: 'planner' is no full name of a node. Fix: write it with its namespace, as "
                "`ros2 node list` shows it: /planner"},
        Refused{entry("name: /cam/*"), "4: '/cam/*' is a pattern, not the full name of a topic"},
        Refused{entry("name: scan"),
                "4: 'scan' is no full name of a topic or service. Fix: "
                "write it with its namespace, as `ros2 topic list` shows it: "
                "/scan"},
        Refused{entry("group: shared"), "4: 'shared' is no whole number"},
        Refused{entry("group: -1"), "4: '-1' is no whole number"},
        Refused{entry("reads: /scan"),
                "4: a table of topics is expected here. Fix: write "
                "reads: {/scan: {max_age: 15 ms}}, or {/scan: {}}"},
        Refused{entry("reads: [/scan]"), "4: a table of topics"},
        Refused{entry("reads: {scan: {}}"), "4: 'scan' is no full name of a topic. Fix: "},
        Refused{entry("reads: {/scan: {}, /scan: {}}"), "4: '/scan' stands here twice"},
        Refused{entry("reads: {/scan: 15 ms}"), "4: a table of keys and values is expected here"},
        Refused{entry("reads: {/scan: {age: 15 ms}}"), "4: unknown key 'age'"},
        Refused{entry("reads: {/scan: {max_age: 15}}"), std::string{"4: '15'"} + no_time}));

INSTANTIATE_TEST_SUITE_P(
    Times, Refusals, testing::ValuesIn([] {
      std::vector<Refused> all;
      for (const std::string word :
           {"5", "0 ms", "-1 ms", "+1 ms", "0.4 ns", "1e-300 s", "nan ms", "inf s", "1e400 s",
            "1e5 s", "0x10 ms", "1,5 ms", "ms", "5 ms 3 us", "5 m", "5 Ms", "5 days", "876001 h",
            "99999999999999999999 ns"}) {
        all.push_back({entry("deadline: " + word), "4: '" + word + "'" + no_time});
      }
      for (const std::string key : {"period", "expected_execution", "budget"}) {
        all.push_back({entry(key + ": 5"), std::string{"4: '5'"} + no_time});
      }
      return all;
    }()));

}  // namespace
}  // namespace takt::test
