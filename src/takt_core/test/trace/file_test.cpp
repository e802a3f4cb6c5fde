// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

#include "takt/os/clock.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"
#include "takt/trace/timeline.hpp"
#include "takt/trace/tracer.hpp"
#include "takt/trace/writer.hpp"

namespace takt::trace {
namespace {

using test::TemporaryFile;

Event event_at(std::int64_t time, EventType type = EventType::start, std::uint16_t task = 0) {
  return {.time = time,
          .job = 7,
          .value = -3,
          .task = task,
          .topic = 2,
          .core = 1,
          .type = type,
          .detail = 9};
}

TEST(TraceFile, GivesBackWhatWasWrittenSortedByTime) {
  const TemporaryFile file;
  {
    TraceWriter writer{file.path(), Source::simulator};
    const std::vector<Event> events{event_at(30), event_at(10), event_at(20, EventType::end)};
    writer.write(events);
    writer.add_lost(5);
    writer.close();
  }
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(trace.source, Source::simulator);
  EXPECT_EQ(trace.realtime_offset.count(), 0);
  EXPECT_TRUE(trace.closed_in_order);
  EXPECT_EQ(trace.lost, 5U);
  ASSERT_EQ(trace.events.size(), 3U);
  EXPECT_EQ(trace.events[0], event_at(10));
  EXPECT_EQ(trace.events[1], event_at(20, EventType::end));
  EXPECT_EQ(trace.events[2], event_at(30));
}

// Another user may have put either under a name that a robot's traces have in /tmp.
TEST(TraceFile, IsNotWrittenThroughALinkOrASecondName) {
  const TemporaryFile precious;
  std::ofstream{precious.path()} << "precious";
  for (const bool symbolic : {true, false}) {
    const std::filesystem::path name = precious.path().string() + ".takttrace";
    if (symbolic) {
      std::filesystem::create_symlink(precious.path(), name);
    } else {
      std::filesystem::create_hard_link(precious.path(), name);
    }
    try {
      const TraceWriter writer{name, Source::simulator};
      ADD_FAILURE() << "it was written";
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string{error.what()}.find(symbolic ? "symbolic link" : "hard link"),
                std::string::npos)
          << error.what();
    }
    std::filesystem::remove(name);
    std::string kept;
    std::ifstream{precious.path()} >> kept;
    EXPECT_EQ(kept, "precious");
  }
}

TEST(TraceFile, TakesThePlaceOfTheFileOfBefore) {
  const TemporaryFile file;
  std::ofstream{file.path()} << std::string(100'000, 'x');
  TraceWriter{file.path(), Source::simulator}.close();
  EXPECT_TRUE(read_trace(file.path()).events.empty());
}

TEST(TraceFile, KeepsNamesOfAnyLengthAndTheLastOfAnId) {
  const TemporaryFile file;
  const std::string long_name(1000, 'x');
  {
    TraceWriter writer{file.path(), Source::executor};
    for (std::size_t length = 0; length < 100; ++length) {
      writer.name(NameKind::topic, static_cast<std::uint16_t>(length), std::string(length, 'n'));
    }
    writer.name(NameKind::task, 1, "replaced by a name that comes later in the file");
    writer.write(event_at(1));
    writer.name(NameKind::task, 1, long_name);
    writer.attribute("policy", "edf");
    writer.attribute("a", "=b=");
  }
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(trace.tasks.at(1), long_name);
  for (std::size_t length = 0; length < 100; ++length) {
    EXPECT_EQ(trace.topics.at(static_cast<std::uint16_t>(length)), std::string(length, 'n'));
  }
  EXPECT_EQ(trace.attributes, (std::vector<std::string>{"policy=edf", "a==b="}));
  EXPECT_EQ(trace.events.size(), 1U);
}

TEST(TraceFile, IsValidAtEveryLengthThatAKillMayLeave) {
  const TemporaryFile file;
  constexpr std::uintmax_t events = 5;
  {
    TraceWriter writer{file.path(), Source::executor};
    for (std::int64_t time = 0; time < static_cast<std::int64_t>(events); ++time) {
      writer.write(event_at(time));
    }
  }
  const auto size = std::filesystem::file_size(file.path());
  ASSERT_EQ(size, 64 + 32 * events);
  for (std::uintmax_t length = size; length >= 64; --length) {
    std::filesystem::resize_file(file.path(), length);
    const Trace trace = read_trace(file.path());
    EXPECT_EQ(trace.events.size(), (length - 64) / 32);
    EXPECT_EQ(trace.closed_in_order, length == size);
  }
  std::filesystem::resize_file(file.path(), 63);
  EXPECT_THROW(read_trace(file.path()), std::runtime_error);
}

TEST(TraceFile, OfAKilledProcessHoldsWhatWasDrained) {
  const TemporaryFile file;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Tracer tracer{file.path(), {.drain_period = std::chrono::milliseconds{1}}};
    tracer.writer().name(NameKind::task, 0, "alive");
    Recorder recorder = tracer.add_thread();
    for (std::uint64_t job = 0; job < 1000; ++job) {
      recorder.record(EventType::start, os::now(), 0, job);
    }
    while (std::filesystem::file_size(file.path()) < 64 + 32 * 1001) {
      os::sleep_until(os::now() + std::chrono::milliseconds{1});
    }
    const char go = 'x';
    if (write(ready[1], &go, 1) == 1) {
      pause();
    }
    std::_Exit(1);
  }
  close(ready[1]);
  char went = 0;
  ASSERT_EQ(read(ready[0], &went, 1), 1);
  close(ready[0]);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  Trace trace = read_trace(file.path());
  EXPECT_FALSE(trace.closed_in_order);
  EXPECT_EQ(trace.tasks.at(0), "alive");
  // A virtual machine may have been robbed meanwhile.
  std::erase_if(trace.events, [](const Event& event) { return event.type == EventType::stolen; });
  ASSERT_EQ(trace.events.size(), 1000U);
  for (std::uint64_t job = 0; job < 1000; ++job) {
    EXPECT_EQ(trace.events[job].job, job);
  }
}

TEST(TraceFile, SaysWhichFileIsNoTrace) {
  const TemporaryFile file;
  EXPECT_THROW(read_trace(file.path()), std::system_error);
  std::ofstream{file.path()} << std::string(200, 'q');
  try {
    read_trace(file.path());
    FAIL() << "a file of letters was taken for a trace";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string{error.what()}.find(file.path().string()), std::string::npos);
  }
  EXPECT_THROW((TraceWriter{"/nonexistent/folder/trace", Source::executor}), std::system_error);
}

TEST(TraceFile, SurvivesRandomDamageBehindItsHeader) {
  const TemporaryFile file;
  {
    TraceWriter writer{file.path(), Source::executor};
    for (std::int64_t time = 0; time < 200; ++time) {
      writer.write(event_at(time));
      writer.name(NameKind::task, 3, "a name of more than one record, to be damaged");
    }
  }
  std::mt19937 random{1};
  for (int round = 0; round < 200; ++round) {
    std::fstream stream{file.path(), std::ios::in | std::ios::out | std::ios::binary};
    const auto size = static_cast<std::uint32_t>(std::filesystem::file_size(file.path()));
    stream.seekp(64 + static_cast<std::streamoff>(random() % (size - 64)));
    stream.put(static_cast<char>(random()));
    stream.close();
    timeline(read_trace(file.path()).events);  // must neither crash nor throw
  }
}

TEST(TraceFile, KeepsTheReasonOfAWriteThatFailed) {
  const TemporaryFile file;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  TraceWriter writer{file.path(), Source::executor};
  writer.write(event_at(1));
  writer.flush();
  const rlimit small{.rlim_cur = 96, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  writer.write(event_at(2));
  EXPECT_THROW(writer.flush(), std::system_error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  writer.note_write_error(ENOSPC);  // the first one counts
  writer.close();
  const Trace trace = read_trace(file.path());
  EXPECT_EQ(trace.events.size(), 1U);
  EXPECT_EQ(trace.lost, 1U);
  EXPECT_EQ(trace.write_error, EFBIG);
}

TEST(TraceFile, SaysThatItCannotBeWritten) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "there is no /dev/full, a device on which every write fails";
  }
  EXPECT_THROW((TraceWriter{"/dev/full", Source::executor}), std::system_error);
}

}  // namespace
}  // namespace takt::trace
