// SPDX-License-Identifier: Apache-2.0
#include "executor/note.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "support.hpp"

namespace takt::executor {
namespace {

TEST(Inbox, GivesAllNotesInTheOrderInWhichTheyWerePosted) {
  Inbox inbox;
  EXPECT_TRUE(inbox.empty());
  EXPECT_EQ(inbox.take_all(), nullptr);
  std::vector<Note> notes(5);
  for (Note& note : notes) {
    inbox.post(note);
  }
  Note* next = inbox.take_all();
  for (Note& note : notes) {
    ASSERT_EQ(next, &note);
    next = next->next;
  }
  EXPECT_EQ(next, nullptr);
  EXPECT_TRUE(inbox.empty());
}

TEST(NotePool, GivesEachNoteToOneAtATimeAndRefusesWhenAllAreInUse) {
  NotePool pool;
  EXPECT_EQ(pool.take(), nullptr);
  pool.grow_to(1500);
  std::set<Note*> taken;
  while (Note* const note = pool.take()) {
    EXPECT_TRUE(taken.insert(note).second);
  }
  EXPECT_GE(taken.size(), 1500U);
  for (Note* const note : taken) {
    pool.give_back(*note);
  }
  pool.grow_to(1500);  // there are enough
  std::size_t again = 0;
  while (pool.take() != nullptr) {
    ++again;
  }
  EXPECT_EQ(again, taken.size());
}

// Every note that is posted comes out once, each thread's in their order, and with what was written
// into it.
TEST(Inbox, LosesNothingOfManyThreads) {
  constexpr int threads = 4;
  constexpr int each = 20'000;
  NotePool pool;
  pool.grow_to(256);
  Inbox inbox;
  std::atomic<int> running{threads};
  std::vector<std::thread> posting;
  for (int thread = 0; thread < threads; ++thread) {
    posting.emplace_back([&, thread] {
      for (int i = 0; i < each;) {
        if (Note* const note = pool.take()) {
          note->count = static_cast<std::uint32_t>(thread);
          note->value = i++;
          inbox.post(*note);
        } else {
          std::this_thread::yield();
        }
      }
      --running;
    });
  }
  std::vector<std::int64_t> next(threads, 0);
  bool last = false;
  while (!last) {
    last = running == 0;
    for (Note* note = inbox.take_all(); note != nullptr;) {
      Note* const following = note->next;
      EXPECT_EQ(note->value, next[note->count]++);
      pool.give_back(*note);
      note = following;
    }
  }
  for (std::thread& thread : posting) {
    thread.join();
  }
  EXPECT_EQ(next, std::vector<std::int64_t>(threads, each));
}

// A timer whose callback does not end keeps all notes; the producer is on a crew of its own, for
// which there is none left, and no other comes.
TEST(NotePool, IsNotNeededToAskAnotherCrewForYoungData) {
  using namespace test;
  Executor executor{
      {.cpus = {os::current_thread().cpus.front()}, .on_not_granted = [](const auto&) {}}};
  std::atomic<bool> begun{false};
  std::atomic<bool> ends{false};
  sched::Task keeps = timer("keeps all notes", 1h, 10);
  keeps.waits = true;
  const auto keeper = executor.add(keeps, {[&](const auto&) {
                                     begun = true;
                                     eventually([&] { return ends.load(); });
                                   }});
  sched::Task producer = timer("producer", 1h, 20);
  producer.waits = true;
  producer.parameters.expected_execution = 1ms;
  producer.writes = {"data"};
  const auto source = executor.add(producer, {[](const auto&) {}});
  sched::Task reader = timer("reader", 20ms, 40, 15ms);
  reader.parameters.expected_execution = 1ms;
  reader.reads = {{.topic = "data", .max_age = 30ms}};
  executor.add(reader, {[](const auto&) {}});
  executor.start();
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  while (keeper.release.release_at(os::now())) {
  }
  const auto early = [&] { return executor.statistics(source.index).early_releases; };
  const std::uint64_t before = early();
  EXPECT_TRUE(eventually([&] { return early() >= before + 3; })) << "what it was asked is lost";
  ends = true;
  executor.stop();
}

}  // namespace
}  // namespace takt::executor
