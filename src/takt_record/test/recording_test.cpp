// SPDX-License-Identifier: Apache-2.0
#include "recording.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace takt_record {
namespace {

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "takt_record_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/one.taktrecord"; }

  std::string content() const {
    std::ifstream stream{path(), std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  template <typename Value>
  static Value at(const std::string& data, std::size_t place) {
    Value value;
    std::memcpy(&value, data.data() + place, sizeof value);
    return value;
  }

  std::string folder_;
};

TEST_F(File, begins_with_its_names_and_keeps_events_in_their_order) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 1 << 20, "first a=i\nsecond b=s\n"), "");
  Arguments number;
  number.add(42);
  recording.append(0, number, Kind::event);
  Arguments text;
  text.add_text("abc");
  recording.append(1, text, Kind::end);

  const std::string data = content();
  EXPECT_EQ(data.substr(0, 8), "TAKTREC2");
  const auto names = at<std::uint32_t>(data, 52);
  EXPECT_EQ(names % alignment, 0U);
  EXPECT_EQ(data.substr(sizeof(Header), 10), "first a=i\n");
  const std::size_t first = sizeof(Header) + names;
  EXPECT_EQ(at<std::uint32_t>(data, first), sizeof(EventHead) + 8);
  EXPECT_EQ(at<std::uint16_t>(data, first + 4), 0);
  EXPECT_EQ(at<std::int64_t>(data, first + 16), -1);  // CPU time was not asked for
  EXPECT_EQ(at<std::uint64_t>(data, first + sizeof(EventHead)), 42U);
  const std::size_t second = first + sizeof(EventHead) + 8;
  EXPECT_EQ(at<std::uint16_t>(data, second + 4), 1);
  EXPECT_GE(at<std::int64_t>(data, second + 8), at<std::int64_t>(data, first + 8));
  EXPECT_GE(at<std::int64_t>(data, second + 16), 0);
  EXPECT_EQ(at<std::uint64_t>(data, second + sizeof(EventHead)), 3U);
  EXPECT_EQ(data.substr(second + sizeof(EventHead) + 8, 3), "abc");
  EXPECT_EQ(at<std::uint64_t>(data, 16), second + sizeof(EventHead) + 16);  // its end
}

TEST_F(File, has_the_cpu_time_of_what_follows_a_response_up_to_the_next_begin) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 1 << 20, "one\n"), "");
  for (const Kind kind : {Kind::event, Kind::clock, Kind::event, Kind::response, Kind::name,
                          Kind::event, Kind::event, Kind::begin, Kind::event}) {
    recording.append(0, {}, kind);
  }
  const std::string data = content();
  std::string known;
  for (std::size_t place = sizeof(Header) + at<std::uint32_t>(data, 52); known.size() < 9;
       place += sizeof(EventHead)) {
    known += at<std::int64_t>(data, place + 16) < 0 ? '-' : '+';
  }
  EXPECT_EQ(known, "-+-+-+++-");
}

TEST_F(File, counts_what_has_no_space_and_keeps_what_it_has) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 1, "x\n"), "");  // the least: 64 KiB
  Arguments none;
  constexpr std::uint64_t many = 3000;
  for (std::uint64_t i = 0; i < many; ++i) {
    recording.append(0, none, Kind::event);
  }
  const std::string data = content();
  EXPECT_EQ(data.size(), 64U << 10);
  const std::uint64_t kept = (data.size() - sizeof(Header) - 8) / sizeof(EventHead);
  EXPECT_EQ(at<std::uint64_t>(data, 24), many - kept);
}

TEST_F(File, keeps_every_event_of_threads_that_write_at_once) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 8 << 20, "x a=i\n"), "");
  constexpr int threads = 4;
  constexpr std::uint64_t each = 5000;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&recording] {
      for (std::uint64_t k = 0; k < each; ++k) {
        Arguments one;
        one.add(k);
        recording.append(0, one, Kind::event);
      }
    });
  }
  for (std::thread& one : all) {
    one.join();
  }
  const std::string data = content();
  std::vector<std::uint64_t> sum(4);
  std::size_t events = 0;
  for (std::size_t place = sizeof(Header) + 8; place < at<std::uint64_t>(data, 16);
       place += at<std::uint32_t>(data, place)) {
    ASSERT_EQ(at<std::uint32_t>(data, place), sizeof(EventHead) + 8);
    EXPECT_LT(at<std::uint64_t>(data, place + sizeof(EventHead)), each);
    ++events;
  }
  EXPECT_EQ(events, threads * each);
}

// The events that a reader finds, also while threads write them; -1: it finds rubbish.
int whole_events(const std::byte* data) {
  std::uint64_t end = 0;
  std::uint32_t names = 0;
  std::memcpy(&end, data + offsetof(Header, end), sizeof end);
  std::memcpy(&names, data + offsetof(Header, names), sizeof names);
  int found = 0;
  std::uint64_t place = sizeof(Header) + names;
  while (place < end) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, data + place, sizeof bytes);
    const std::uint32_t size = bytes & ~unfinished;
    if (bytes != 0 && (size % alignment != 0 || size < sizeof(EventHead))) {
      return -1;
    }
    found += bytes != 0 && size == bytes ? 1 : 0;
    place += bytes == 0 ? alignment : size;
  }
  return place == end ? found : -1;
}

// As SIGKILL may: between any two instructions.
TEST_F(File, is_readable_wherever_its_process_is_killed) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 1, "one a=s b=i\n"), "");
  const int file = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
  void* const place = ::mmap(nullptr, 1U << 16, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  ASSERT_NE(place, MAP_FAILED);
  Arguments two;
  two.add_text("abcdefghijk");
  two.add(0xFFFFFFFF);
  recording.append(0, two, Kind::begin);  // binds its symbols: they would be many instructions
  recording.append(0, two, Kind::end);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
      ::_exit(2);
    }
    ::raise(SIGSTOP);
    recording.append(0, two, Kind::begin);
    recording.append(0, two, Kind::end);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) {
    GTEST_SKIP() << "this system forbids ptrace";
  }
  int events = 2;
  for (int step = 0; events < 4; ++step) {
    ASSERT_LT(step, 1'000'000);
    ASSERT_EQ(::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSTOPPED(status));
    const int now = whole_events(static_cast<const std::byte*>(place));
    ASSERT_GE(now, events) << "after instruction " << step;
    events = now;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  ::munmap(place, 1U << 16);
}

// Faults of this thread's first write to a page; each costs tens of microseconds.
long faults() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt;
}

bool kernel_writes_ahead() {
  void* const page = ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool does = ::madvise(page, 1, MADV_POPULATE_WRITE) == 0;
  ::munmap(page, 1);
  return does;
}

TEST_F(File, has_its_pages_ready_before_a_callback_needs_them) {
  if (!kernel_writes_ahead()) {
    GTEST_SKIP() << "this kernel is older than 5.14";
  }
  Recording recording;
  constexpr std::uint64_t bytes = 8 << 20;
  ASSERT_EQ(recording.create(path(), bytes, "x a=i\n"), "");
  long within = 0;
  for (std::uint64_t i = 0; i < bytes / 2 / sizeof(EventHead) / 4; ++i) {
    Arguments callback;
    callback.add(i);
    const long before = faults();
    recording.append(0, callback, Kind::begin);
    recording.append(0, callback, Kind::event);
    within += faults() - before;
    recording.append(0, callback, Kind::end);
  }
  EXPECT_LT(within, 50);  // of about 1,000 pages; some are written to the disk in between
}

// The arguments of the events of a ring, as a reader finds them: block by block.
std::vector<std::uint64_t> in_ring(const std::string& data) {
  const auto get = [&](std::size_t place, auto kind) {
    std::memcpy(&kind, data.data() + place, sizeof kind);
    return kind;
  };
  const auto ring = get(56, std::uint64_t{});
  const auto end = get(64, std::uint64_t{});
  const std::uint64_t blocks = (data.size() - ring) / block_bytes;
  std::vector<std::uint64_t> found;
  const std::uint64_t last = end / block_room;
  for (std::uint64_t number = last < blocks ? 0 : last - blocks + 1; number <= last; ++number) {
    const std::size_t begin = ring + number % blocks * block_bytes;
    if (get(begin, std::uint64_t{}) != number + 1) {
      continue;
    }
    std::size_t place = begin + 8;
    while (place < begin + block_bytes) {
      const auto bytes = get(place, std::uint32_t{});
      const std::size_t left = begin + block_bytes - place;
      const bool fits = bytes > 0 && bytes % 8 == 0 && bytes <= left;
      if (fits && get(place + 4, std::uint16_t{}) == no_event) {
        place += bytes;
        continue;
      }
      const auto* const event = reinterpret_cast<const std::byte*>(data.data() + place);
      const std::uint64_t at = number * block_room + place - begin - 8;
      if (!fits || bytes < sizeof(EventHead) ||
          get(place + offsetof(EventHead, check), std::uint32_t{}) != check_of(event, bytes, at)) {
        place += 8;
        continue;
      }
      found.push_back(get(place + sizeof(EventHead), std::uint64_t{}));
      place += bytes;
    }
  }
  return found;
}

TEST_F(File, keeps_names_and_the_newest_events_in_a_ring) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 512 << 10, "x a=i\n", Full::ring), "");
  constexpr std::uint64_t many = 100'000;
  for (std::uint64_t i = 0; i < many; ++i) {
    Arguments one;
    one.add(i);
    if (i % 7 == 0) {
      one.add(i);  // of another length: blocks end within an event
    }
    if (i < 3) {
      recording.append(0, one, Kind::name);
    }
    recording.append(0, one, Kind::event);
  }
  const std::string data = content();
  EXPECT_EQ(at<std::uint64_t>(data, 24), 0U);  // none was dropped
  EXPECT_EQ(at<std::uint64_t>(data, sizeof(Header) + 8 + sizeof(EventHead)), 0U);
  const std::vector<std::uint64_t> found = in_ring(data);
  ASSERT_GT(found.size(), 5000U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], many - found.size() + i);
  }
}

TEST_F(File, has_whole_events_only_in_a_ring_that_threads_write_at_once) {
  Recording recording;
  ASSERT_EQ(recording.create(path(), 1, "x a=i\n", Full::ring), "");
  constexpr int threads = 4;
  constexpr std::uint64_t each = 20'000;
  std::vector<std::thread> all;
  for (std::uint64_t i = 0; i < threads; ++i) {
    all.emplace_back([&recording, i] {
      for (std::uint64_t k = 0; k < each; ++k) {
        Arguments one;
        one.add(i * each + k);
        recording.append(0, one, Kind::event);
      }
    });
  }
  for (std::thread& one : all) {
    one.join();
  }
  const std::vector<std::uint64_t> found = in_ring(content());
  EXPECT_GT(found.size(), 3000U);
  std::vector<std::uint64_t> last(threads);
  for (const std::uint64_t one : found) {
    ASSERT_LT(one, threads * each);
    ASSERT_GE(one % each + 1, last[one / each]);  // those of one thread in their order
    last[one / each] = one % each + 1;
  }
}

TEST_F(File, records_only_names_while_it_pauses) {
  const std::string control = folder_ + "/control";
  const auto turn = [&](std::uint32_t on) {
    const Control written{.magic = control_magic, .on = on, .unused = 0};
    std::fstream stream{control, std::ios::binary | std::ios::out | std::ios::in};
    if (!stream) {
      stream.open(control, std::ios::binary | std::ios::out);
    }
    stream.write(reinterpret_cast<const char*>(&written), sizeof written);
  };
  turn(0);
  Recording recording;
  ASSERT_EQ(recording.create(path(), 1 << 20, "x\n"), "");
  recording.follow(folder_ + "/none");  // nothing to follow: everything is recorded
  recording.follow(control);
  Arguments none;
  const auto events = [&] {
    return (at<std::uint64_t>(content(), 16) - sizeof(Header) - 8) / sizeof(EventHead);
  };
  recording.append(0, none, Kind::event);
  recording.append(0, none, Kind::end);
  EXPECT_EQ(events(), 0U);
  recording.append(0, none, Kind::name);
  EXPECT_EQ(events(), 1U);
  turn(1);
  recording.append(0, none, Kind::event);
  EXPECT_EQ(events(), 2U);
  turn(0);
  recording.append(0, none, Kind::event);
  EXPECT_EQ(events(), 2U);
}

TEST_F(File, is_not_made_over_another_one_nor_where_there_is_no_folder) {
  Recording first;
  Recording second;
  ASSERT_EQ(first.create(path(), 1 << 20, "x\n"), "");
  EXPECT_NE(second.create(path(), 1 << 20, "x\n"), "");
  EXPECT_FALSE(second.is_open());
  EXPECT_NE(second.create(folder_ + "/none/x", 1 << 20, "x\n"), "");
  Arguments none;
  second.append(0, none, Kind::event);  // does nothing
}

TEST(arguments, are_cut_where_they_have_no_room) {
  Arguments all;
  const std::string text(5000, 'x');
  all.add_text(text.c_str());
  EXPECT_EQ(all.size(), 8 + Arguments::most_text);
  all.add_text(nullptr);
  EXPECT_EQ(all.size(), 16 + Arguments::most_text);
  for (int i = 0; i < 10; ++i) {
    all.add_text(text.c_str());
  }
  EXPECT_EQ(all.size(), Arguments::most);
}

}  // namespace
}  // namespace takt_record
