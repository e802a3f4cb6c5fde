// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/sample_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "takt/probe/failure.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// The file as its readers see it: bytes at the offsets of the contract.
struct Contents {
  explicit Contents(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    bytes.assign(std::istreambuf_iterator<char>{file}, {});
  }
  template <class Number>
  Number at(std::size_t offset) const {
    Number number{};
    std::memcpy(&number, bytes.data() + offset, sizeof(number));
    return number;
  }
  Sample sample(std::size_t index) const { return at<Sample>(4096 + 32 * index); }
  std::uint64_t count() const { return at<std::uint64_t>(24); }

  std::vector<char> bytes;
};

class SampleFileTest : public testing::Test {
 protected:
  static os::TimePoint at(std::int64_t ns) { return os::TimePoint{std::chrono::nanoseconds{ns}}; }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "a.taktsamples";
};

TEST_F(SampleFileTest, has_the_layout_of_the_contract) {
  {
    SampleFile file{path_, 3};
    file.record(7, at(100), at(101), at(250));
    file.record(8, at(200), at(201), never);
  }
  const Contents contents{path_};
  EXPECT_EQ(contents.bytes.size(), 4096U + 3 * 32U);
  EXPECT_EQ(std::string(contents.bytes.data(), 8), "TAKTSMP1");
  EXPECT_EQ(contents.at<std::uint32_t>(8), 4096U);
  EXPECT_EQ(contents.at<std::uint32_t>(12), 32U);
  EXPECT_EQ(contents.at<std::uint64_t>(16), 3U);
  EXPECT_EQ(contents.count(), 2U);
  EXPECT_EQ(contents.at<std::uint64_t>(32), 0U);
  EXPECT_NEAR(static_cast<double>(contents.at<std::int64_t>(40)),
              static_cast<double>(os::realtime_offset().count()), 1e9);
  EXPECT_EQ(contents.sample(0).sequence, 7U);
  EXPECT_EQ(contents.sample(0).intended, 100);
  EXPECT_EQ(contents.sample(0).sent, 101);
  EXPECT_EQ(contents.sample(0).received, 250);
  EXPECT_EQ(contents.sample(1).received, 0);
  for (std::size_t offset = 48; offset < 4096; ++offset) {
    ASSERT_EQ(contents.bytes[offset], 0) << "padding at " << offset;
  }
}

TEST_F(SampleFileTest, counts_what_does_not_fit_and_keeps_what_does) {
  {
    SampleFile file{path_, 10};
    for (std::uint64_t k = 0; k < 25; ++k) {
      file.record(k, at(1), at(2), at(3));
    }
    EXPECT_EQ(file.dropped(), 15U);
  }
  const Contents contents{path_};
  EXPECT_EQ(contents.count(), 10U);
  EXPECT_EQ(contents.at<std::uint64_t>(32), 15U);
  EXPECT_EQ(contents.sample(9).sequence, 9U);
  EXPECT_EQ(contents.bytes.size(), 4096U + 10 * 32U);
}

TEST_F(SampleFileTest, takes_its_space_before_the_first_record) {
  const SampleFile file{path_, 100'000};
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 4096 + 100'000 * 32);
}

TEST_F(SampleFileTest, never_overwrites_recorded_samples) {
  {
    SampleFile file{path_, 1};
    file.record(42, at(1), at(2), at(3));
  }
  EXPECT_THROW(SampleFile(path_, 1), Failure);
  EXPECT_EQ(Contents{path_}.sample(0).sequence, 42U);
}

TEST_F(SampleFileTest, a_missing_folder_is_named_with_its_fix) {
  const auto where = folder_.path() / "absent" / "a.taktsamples";
  try {
    SampleFile(where, 1);
    FAIL() << "expected a Failure";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.reason().what.find(where.string()), std::string::npos);
    EXPECT_NE(failure.reason().why.find("folder"), std::string::npos);
    EXPECT_FALSE(failure.reason().fix.empty());
  }
}

TEST_F(SampleFileTest, a_size_that_no_disk_has_fails_before_the_loop_and_leaves_nothing) {
  EXPECT_THROW(SampleFile(path_, std::uint64_t{1} << 50), Failure);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SampleFileTest, a_writer_killed_in_mid_run_leaves_complete_records_only) {
  constexpr std::uint64_t capacity = 300'000;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    SampleFile file{path_, capacity};
    for (std::uint64_t k = 0;; k = (k + 1) % capacity) {
      const auto time = static_cast<std::int64_t>(k);
      file.record(k, at(time + 1), at(time + 2), at(time + 3));
      if (k % 64 == 0) {
        usleep(1000);  // seconds for the whole file, so that the parent meets it in mid-run
      }
    }
  }
  std::uint64_t recorded = 0;
  for (int attempt = 0; attempt < 5000 && recorded < 1000; ++attempt) {
    usleep(1000);
    std::ifstream file{path_, std::ios::binary};
    file.seekg(24);
    std::uint64_t count = 0;
    recorded = file.read(reinterpret_cast<char*>(&count), sizeof(count)) ? count : 0;
  }
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const Contents contents{path_};
  ASSERT_GE(contents.count(), 1000U);
  ASSERT_LT(contents.count(), capacity);
  for (std::uint64_t k = 0; k < contents.count(); ++k) {
    const Sample sample = contents.sample(k);
    const auto time = static_cast<std::int64_t>(k);
    ASSERT_EQ(sample.sequence, k);
    ASSERT_EQ(sample.intended, time + 1);
    ASSERT_EQ(sample.received, time + 3);
  }
}

}  // namespace
}  // namespace takt::probe
