// SPDX-License-Identifier: Apache-2.0
//
// What is refused as a join, and with which words.
#include "takt/application/parse.hpp"

#include <gtest/gtest.h>

#include <string>

#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

std::string input(const std::string& name, const std::string& rest) {
  return R"({"name": ")" + name + R"(", "execution": {"worst": 1}, )" + rest + "}";
}

std::string document(const std::string& callbacks, const std::string& rest = "") {
  return R"({"version": 1, "name": "x", "policy": "edf", "callbacks": [)" + callbacks + "]" + rest +
         "}";
}

const std::string message =
    R"("node": "n", "kind": "message", "trigger": "a", "join": "both", "writes": ["t"])";

// What is wrong with it; empty: nothing.
std::string problem(const std::string& json) {
  try {
    static_cast<void>(parse(json));
  } catch (const sched::ScheduleError& error) {
    return error.where() + ": " + error.problem();
  }
  return {};
}

TEST(Joins, are_the_callbacks_of_a_node_with_the_same_name) {
  const Application application = parse(document(
      input("n.a", message) + "," + input("n.b", message) + "," +
      input("m.a",
            R"("node": "m", "kind": "message", "trigger": "a", "join": "both", "writes": ["s"])") +
      "," +
      input("m.b",
            R"("node": "m", "kind": "message", "trigger": "t", "join": "both", "writes": ["s"])")));
  EXPECT_EQ(application.joins(), (std::vector<std::vector<std::size_t>>{{0, 1}, {2, 3}}));
}

TEST(Joins, are_refused_with_the_callback_and_the_reason) {
  EXPECT_EQ(problem(document(input("n.a", message))),
            "task 'n.a': it belongs to join 'both', and no other callback of its node does");
  const std::string timer = R"("node": "n", "period": 9, "join": "both", "writes": ["t"])";
  EXPECT_EQ(problem(document(input("n.a", message) + "," + input("n.b", timer))),
            "task 'n.b': it belongs to join 'both', and no message releases it");
  std::string other = message;
  other.replace(other.find("[\"t\"]"), 5, R"(["u"])");
  EXPECT_EQ(problem(document(input("n.a", message) + "," + input("n.b", other))),
            "task 'n.b': it belongs to join 'both', and writes something else than task "
            "'n.a': the same is published, whichever completes the set");
  const std::string several = message + R"(, "messages": {"t": 2})";
  EXPECT_NE(problem(document(input("n.a", message) + "," + input("n.b", several))), "");
  std::string silent = message;
  silent.replace(silent.find("[\"t\"]"), 5, "[]");
  EXPECT_EQ(problem(document(input("n.a", silent) + "," + input("n.b", silent))),
            "task 'n.a': it belongs to join 'both', and writes nothing");
}

TEST(Joins, do_not_change_what_they_write) {
  const std::string both = input("n.a", message) + "," + input("n.b", message);
  EXPECT_EQ(problem(document(both)), "");
  EXPECT_EQ(
      problem(document(
          both, R"(, "scenarios": [{"name": "s", "tasks": [{"task": "n.b", "writes": ["u"]}]}])")),
      "task 'n.b': it belongs to join 'both', and a scenario changes what it writes");
}

TEST(Joins, have_no_more_callbacks_than_one_word_has_bits) {
  std::string callbacks = input("n.c0", message);
  for (int i = 1; i < 64; ++i) {
    callbacks += "," + input("n.c" + std::to_string(i), message);
  }
  EXPECT_EQ(problem(document(callbacks)), "");
  EXPECT_NE(problem(document(callbacks + "," + input("n.c64", message))), "");
}

}  // namespace
}  // namespace takt::application
