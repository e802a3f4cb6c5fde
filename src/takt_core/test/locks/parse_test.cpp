// SPDX-License-Identifier: Apache-2.0
//
// What an application may say of its locks, and what it is told otherwise.
#include <gtest/gtest.h>

#include <string>

#include "documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

const std::string m = mutex("m", "inheritance");
const std::string n = mutex("n", "inheritance");

// How the refusal reads; "" if there is none.
std::string refusal(const std::string& json) {
  try {
    static_cast<void>(analyse_json(json));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string one(const std::string& sections, const std::string& locks = m + "," + n,
                const std::string& more = "") {
  return with_locks(timer("a", 100, 10, 2, holds(sections)), locks, more);
}

TEST(LockFaults, sections_may_be_disjoint_or_nested) {
  EXPECT_EQ(refusal(one(section("m", 0, 4) + "," + section("n", 4, 6))), "");
  EXPECT_EQ(refusal(one(section("n", 2, 3) + "," + section("m", 0, 10))), "");
  EXPECT_NE(refusal(one(section("m", 0, 4) + "," + section("n", 3, 6))).find("overlap in part"),
            std::string::npos);
}

TEST(LockFaults, all_are_named_at_once) {
  const std::string text = refusal(
      with_locks(timer("a", 100, 10, 2, holds(section("m", 5, 6))) + "," +
                     timer("b", 100, 10, 1, holds(section("m", 1, 5) + "," + section("m", 2, 2))),
                 m));
  for (const auto* const part :
       {"task 'a'", "ends after the longest execution time, 10 ns", "task 'b'", "while it holds it",
        "shorten the section", "remove the inner section"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(LockFaults, a_circle_of_locks_is_named) {
  const auto both = [](const std::string& outer, const std::string& inner) {
    return holds(section(outer, 0, 5) + "," + section(inner, 1, 2));
  };
  const std::string text = refusal(with_locks(
      timer("a", 100, 10, 2, both("m", "n")) + "," + timer("b", 100, 10, 1, both("n", "m")),
      m + "," + n));
  EXPECT_NE(text.find("lock 'm', then lock 'n', then lock 'm'"), std::string::npos) << text;
  const std::string o = mutex("o", "inheritance");
  const std::string three = refusal(with_locks(timer("a", 100, 10, 2, both("m", "n")) + "," +
                                                   timer("b", 100, 10, 1, both("n", "o")) + "," +
                                                   timer("c", 100, 10, 3, both("o", "m")),
                                               m + "," + n + "," + o));
  EXPECT_NE(three.find("lock 'm', then lock 'n', then lock 'o', then lock 'm'"), std::string::npos)
      << three;
  EXPECT_EQ(refusal(with_locks(timer("a", 100, 10, 2, both("m", "n")) + "," +
                                   timer("b", 100, 10, 1, both("n", "o")) + "," +
                                   timer("c", 100, 10, 3, both("m", "o")),
                               m + "," + n + "," + o)),
            "");
}

TEST(LockFaults, what_is_not_analysed_yet_is_refused) {
  const std::string section_of_m = section("m", 0, 4);
  const auto expect = [&](const std::string& json, const std::string& words) {
    EXPECT_NE(refusal(json).find(words), std::string::npos) << words << " in " << refusal(json);
  };
  expect(one(section_of_m, m, ", 'policy': 'edf'"), "inheritance, which is not analysed under edf");
  EXPECT_EQ(refusal(one(section("c", 0, 4), m + "," + mutex("c", "ceiling"), ", 'policy': 'edf'")),
            "");
  for (const auto* const policy : {"np-fp", "np-edf", "p-rm", "cw-edf", "rm", "dm"}) {
    EXPECT_EQ(refusal(one(section_of_m, m, ", 'policy': '" + std::string{policy} + "'")), "");
  }
  EXPECT_EQ(refusal(one(section_of_m, m, ", 'executor': 'rclcpp_single_threaded'")), "");
  expect(one(section("m", 0, 4) + "," + section("c", 1, 2), m + "," + mutex("c", "ceiling")),
         "another protocol");
  expect(with_locks(timer("a", 100, 10, 2, holds(section_of_m) + ", 'at_once': 2"), m,
                    ", 'cpus': [0, 1]"),
         "several of its jobs may run at once");
  expect(with_locks(
             timer("w", 100, 1, 3, ", 'writes': ['x']") + "," +
                 timer("a", 100, 10, 2,
                       holds(section("c", 0, 4)) + ", 'reads': [{'topic': 'x', 'max_age': 500}]"),
             mutex("c", "ceiling"), ", 'policy': 'edf'"),
         "maximum age of topic 'x'");
  expect(one(section_of_m, m, ", 'scenarios': [{'name': 's', 'policy': 'edf'}]"),
         "inheritance, which is not analysed under edf");
  expect(with_locks(timer("a", 100, 10, 2, ", 'node': 'n', 'reads': [{'topic': 'x'}]") + "," +
                        message("b", "x", 4, 1, ", 'node': 'n'" + holds(section_of_m)),
                    m, ", 'topics': [{'name': 'x', 'external': true, 'external_period': 50}]"),
         "of its node runs it");
}

TEST(LockFaults, spin_locks_are_simple) {
  const std::string s = mutex("s", "spin");
  const auto expect = [&](const std::string& json, const std::string& words) {
    EXPECT_NE(refusal(json).find(words), std::string::npos) << words << " in " << refusal(json);
  };
  EXPECT_EQ(refusal(one(section("s", 0, 4) + "," + section("s", 4, 2), s)), "");
  expect(one(section("s", 0, 4) + "," + section("t", 1, 2), s + "," + mutex("t", "spin")),
         "not analysed inside each other");
  expect(one(section("s", 0, 4) + "," + section("m", 1, 2), s + "," + m), "another protocol");
  expect(one(section("s", 0, 4), s, ", 'policy': 'np-fp'"), "use fp, rm, dm or edf");
  expect(one(section("s", 0, 4), s,
             ", 'cores': [{'cpu': 0, 'interrupts': [{'period': 50, 'duration': 1}]}]"),
         "has a supply or interrupts");
}

TEST(LockFaults, who_waits_without_its_core_has_little_company) {
  const std::string f = mutex("f", "fmlp+");
  const auto expect = [&](const std::string& json, const std::string& words) {
    EXPECT_NE(refusal(json).find(words), std::string::npos) << words << " in " << refusal(json);
  };
  EXPECT_EQ(refusal(one(section("f", 0, 4) + "," + section("f", 4, 2), f)), "");
  expect(one(section("f", 0, 4), f, ", 'policy': 'edf'"), "use the protocol spin, or fp, rm or dm");
  expect(one(section("f", 0, 4), f, ", 'policy': 'np-fp'"), "use fp, rm or dm");
  expect(one(section("f", 0, 4) + "," + section("m", 4, 2), f + "," + m),
         "give all locks the protocol fmlp+");
  expect(with_locks(timer("a", 100, 10, 2, holds(section("f", 0, 4)) + ", 'group': 'g'"), f),
         "is in a group");
}

TEST(LockFaults, a_lock_belongs_to_one_core) {
  const auto two = [](const std::string& a, const std::string& b) {
    return with_locks(timer("a", 100, 60, 2, holds(section("m", 0, 4)) + a) + "," +
                          timer("b", 100, 40, 1, holds(section("m", 0, 4)) + b) + "," +
                          timer("c", 100, 60, 3),
                      m, ", 'cpus': [0, 1]");
  };
  EXPECT_NE(refusal(two(", 'cpu': 0", ", 'cpu': 1")).find("a lock across cores is not analysed"),
            std::string::npos);
  const Report report = analyse_json(two("", ""));
  EXPECT_EQ(callback(report.scenarios.front(), "a").cpu,
            callback(report.scenarios.front(), "b").cpu);
}

}  // namespace
}  // namespace takt::analysis
