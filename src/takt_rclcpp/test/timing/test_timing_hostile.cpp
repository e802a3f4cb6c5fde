// SPDX-License-Identifier: Apache-2.0
//
// Whatever is given as a timing file: it is read, or refused with a fix, in bounded time and
// memory.
#include <sys/stat.h>

#include <random>

#include "support.hpp"

namespace takt::test {
namespace {

class HostileTimingFiles : public WithFile {
 protected:
  void expect_refused(const std::string& content, const std::string& said) const {
    const std::string refused = refusal(content);
    EXPECT_TRUE(refused.find(said) != std::string::npos) << refused;
  }
  static std::string repeated(const std::string& part, std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) {
      all += part;
    }
    return all;
  }
};

constexpr std::size_t most = std::size_t{1024} * 1024;

TEST_F(HostileTimingFiles, whatIsNoFileIsRefusedAndNotWaitedFor) {
  EXPECT_EQ(refusal_of(path()),
            "0: there is no such file. Fix: give the path of a timing file; `takt analyse "
            "--assign` writes one");
  const std::string no_file =
      "0: it is a folder, a pipe or a device. Fix: give the path of an ordinary file";
  EXPECT_EQ(refusal_of(path().parent_path()), no_file);
  EXPECT_EQ(refusal_of("/dev/zero"), no_file);
  EXPECT_EQ(refusal_of("/dev/null"), no_file);
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(path()), no_file);
  EXPECT_NE(refusal_of(path() / "below").find("it cannot be read: Not a directory"),
            std::string::npos);
  EXPECT_NE(refusal_of("/proc/self/mem").find("it cannot be read"), std::string::npos);
  std::filesystem::remove(path());
  std::filesystem::create_symlink(path(), path());
  EXPECT_NE(refusal_of(path()).find("it cannot be read"), std::string::npos);
}

TEST_F(HostileTimingFiles, aFileWithoutReadPermissionIsRefused) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  std::filesystem::permissions(write("{}"), std::filesystem::perms::none);
  EXPECT_EQ(refusal_of(path()),
            "0: it cannot be read: Permission denied. Fix: let this user read it");
}

TEST_F(HostileTimingFiles, aMegabyteIsTheMost) {
  std::string content = "callbacks:\n";
  const std::string line = "- {node: /a, priority: 5}\n";
  while (content.size() + line.size() <= most) {
    content += line;
  }
  content += '#';
  content.append(most - content.size(), '.');
  ASSERT_EQ(content.size(), most);
  EXPECT_EQ(timing(content, {.node = "/a"}).priority, 5);
  expect_refused(content + ".", "0: it has more than a megabyte. Fix: say what many");
  // Longer than it says.
  expect_refused(std::string(64 * most, '\n'), "0: it has more than a megabyte");
}

TEST_F(HostileTimingFiles, bracketsWithoutEnd) {
  for (const std::string part : {"[", "{", "[{", "{a: ", "- ", "? ", "a: [", "!x ["}) {
    const std::string refused = refusal(repeated(part, most / 2));
    EXPECT_NE(refused, "nothing is refused") << part;
  }
  EXPECT_NE(
      refusal(repeated("[", 10000)).find("1: lists and tables stand too deep in each other here"),
      std::string::npos);
}

TEST_F(HostileTimingFiles, anchorsAndAliasesAreRefusedWhereTheyStand) {
  expect_refused("policy: &a fp",
                 "1: anchors (&) and aliases (*) are not read here. Fix: write "
                 "the value out");
  expect_refused("cpus:\n - &x 1\n - *x", "2: anchors");
  expect_refused("callbacks: &all\n - *all", "1: anchors");
  expect_refused("callbacks:\n - &one {node: /a}", "2: anchors");
  expect_refused("policy: *nowhere", "1: it is not YAML: the referenced anchor is not defined");
  // Letters of words and remarks are none.
  EXPECT_EQ(timing("# R&D\ncallbacks: [{node: '/a', priority: 5}] # *", {.node = "/a"}).priority,
            5);
}

TEST_F(HostileTimingFiles, oneDocument) {
  expect_refused("policy: fp\n---\npolicy: edf\n", "a second document begins here. Fix: take ");
  EXPECT_NE(load("---\npolicy: fp\n...\n").policy, nullptr);
}

TEST_F(HostileTimingFiles, whatIsNoTextIsRefusedWhereItBegins) {
  using namespace std::string_literals;
  const std::string said = "2: it is no text in UTF-8 from here on. Fix: save it as text";
  for (const std::string& bytes :
       {"\xff"s, "\xc3("s, "\xc0\x80"s, "\xe0\x80\x80"s, "\xed\xa0\x80"s, "\xf4\x90\x80\x80"s,
        "\xf8\x88\x80\x80\x80"s, "\xe2\x82"s, "\x80"s, "\0"s, "\x01"s, "\x1b[2J"s}) {
    EXPECT_EQ(refusal("policy: fp\n# " + bytes).substr(0, said.size()), said) << bytes;
  }
  EXPECT_EQ(refusal("\xff\xfep\0o\0"s).substr(0, 20), "1: it is no text in ");
  // What is text is read: a byte order mark, letters of two to four bytes.
  EXPECT_NE(load("\xef\xbb\xbfpolicy: fp\n# \u00e4\u20ac\U0001f916\n").policy, nullptr);
}

TEST_F(HostileTimingFiles, longWordsAreShortenedBetweenLetters) {
  expect_refused("callbacks: [{priority: " + std::string(500, '9') + "}]",
                 "1: '" + std::string(40, '9') + "…' is no whole number");
  std::string letters;
  for (int i = 0; i < 100; ++i) {
    letters += "\u20ac";
  }
  expect_refused("callbacks: [{kind: x" + letters + "}]", "\u20ac…'");
  expect_refused("callbacks: [{node: /" + std::string(1001, 'a') + "}]",
                 "1: this word has more than 1000 letters. Fix: write a shorter one");
}

TEST_F(HostileTimingFiles, tagsAndOddKeysDoNoHarm) {
  expect_refused("? [a, b]\n: c\n", "1: a word or number is expected here");
  expect_refused("? {a: b}\n: c\n", "1: a word or number is expected here");
  expect_refused("callbacks: [{reads: {[/scan]: {}}}]", "1: a word or number is expected here");
  expect_refused("callbacks: [{<<: {priority: 5}}]", "1: unknown key '<<'");
  EXPECT_EQ(timing("callbacks: [{node: !!str /a, priority: !!int 5}]", {.node = "/a"}).priority, 5);
  expect_refused("policy: \"a\\0b\"", "1: ");
  expect_refused("a: b: c", "1: it is not YAML: ");
  expect_refused("policy: 'fp", "it is not YAML: ");
  expect_refused("policy: fp\n\tcpus: [1]", "2: ");
}

// Whatever a disk or a typing error makes of a good file.
TEST_F(HostileTimingFiles, filesThatAreDamagedAtRandomAreReadOrRefused) {
  const std::string good = R"(# of the arm
policy: fp
cpus: [0, 1]
callbacks:
  - {node: /arm/guard, kind: timer, ordinal: 0, priority: 80, deadline: 5 ms, waits: true}
  - node: /guard
    kind: subscription
    name: "/scan"
    ordinal: 0
    group: 1
    period: 20 ms
    expected_execution: 1.5 ms
    budget: 2 ms
    cpu: 1
    reads: {/scan: {max_age: 15 ms}, /map: {}}
)";
  ASSERT_EQ(refusal(good), "nothing is refused");
  std::mt19937 random{20261123};
  const std::string letters = "{}[]:,-?&*!|>'\"%@`#\n\t 019azZ/.\xc3\xa4";
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = good;
    for (auto left = 1 + random() % 4; left > 0; --left) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = letters[random() % letters.size()];
          break;
        case 1:
          damaged.erase(at, 1 + random() % 8);
          break;
        case 2:
          damaged.insert(at, 1, letters[random() % letters.size()]);
          break;
        default:
          damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 40));
      }
      if (damaged.empty()) {
        damaged.push_back('x');
      }
    }
    refused += refusal(damaged) == "nothing is refused" ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 3000);
}

}  // namespace
}  // namespace takt::test
