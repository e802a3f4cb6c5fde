// SPDX-License-Identifier: Apache-2.0
//
// After it has warmed up, the executor's loop neither allocates nor faults. An executable of its
// own, because it replaces operator new.
#include "takt/os/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "../os/sanitizer.hpp"
#include "../policies.hpp"
#include "support.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

void* counted_allocation(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) {
    return memory;
  }
  throw std::bad_alloc{};
}

}  // namespace

void* operator new(std::size_t size) {
  return counted_allocation(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace takt::test {
namespace {

class Loop : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (os::test::sanitized) {
      GTEST_SKIP() << "sanitizers allocate and fault by themselves";
    }
  }
};

constexpr std::size_t timers = 10;

std::int64_t thread_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// Of a loop that has warmed up.
struct Used {
  std::uint64_t allocations = 0;
  std::array<std::int64_t, timers> faults{};  // of the thread that runs each task
};

Used used_by(const std::string& policy) {
  const TemporaryFile file;
  Executor executor{{.policy = sched::parse_policy(policy),
                     .cpus = {0},
                     .external_topics = {"outside"},
                     .lock_memory = true,
                     .trace = file.path(),
                     .handlers = {.deadline_miss = [](const auto&) {},
                                  .skip = [](const auto&) {},
                                  .limit_exceeded = [](const auto&) {}},
                     .on_not_granted = [](const auto&) {}}};
  struct Faults {
    std::int64_t warm = -1;  // faults of the thread that runs the task, when it was warm
    std::int64_t last = -1;
    pid_t thread = 0;
  };
  std::array<Faults, timers> of_timers;
  const auto look = [&](std::size_t task, const sched::Job& job) {
    Faults& mine = of_timers[task];
    const std::int64_t faults = thread_faults();
    if (job.index < 20 || mine.thread != gettid()) {
      mine = {.warm = faults, .last = faults, .thread = gettid()};
    }
    mine.last = faults;
  };
  for (std::size_t i = 0; i < timers; ++i) {
    sched::Task task = timer("task" + std::to_string(i), (1 + static_cast<int>(i) % 4) * 1ms,
                             10 + static_cast<int>(i) % 5);
    task.parameters.expected_execution = 10us;
    task.group = i < 2 ? "group" : "";
    if (i == 2) {
      task.writes = {"outside"};
    }
    executor.add(task, {[&look, i](const sched::Job& job) {
                   look(i, job);
                   burn(job.index % 50 == 0 ? 2ms : 20us);  // skips and misses, too
                 }});
  }
  sched::Task task;
  task.name = "receiver";
  task.kind = sched::TaskKind::message;
  task.trigger = "outside";
  task.parameters.priority = 13;
  task.parameters.period = 1ms;
  const auto added = executor.add(task, {.callback = [](const auto&) {}});
  executor.set_scheduling_strategy(sched::SchedulingStrategy{}
                                       .add_scenario(sched::SchedulingScenario{"a"})
                                       .add_scenario(sched::SchedulingScenario{"b"}.add_task(
                                           {.task = "task3", .priority = 14})));
  executor.set_limits(
      {.callbacks = {{.callback = "task2", .skipped = 0.0},
                     {.callback = "receiver", .response = 1ns, .dropped = 0.0}},
       .chains = {
           {.chain = "chain", .callbacks = {"task2", "receiver"}, .latency = 1ns, .age = 1ns}}});
  executor.start();
  os::sleep_until(executor.start_time() + 100ms);
  const std::uint64_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    added.release.notify();
    executor.switch_to(i % 2 == 0 ? "b" : "a");
    os::sleep_until(os::now() + 2ms);
  }
  const auto enough = [&] {
    added.release.notify();
    bool all = executor.statistics(added.index).completed > 20;
    for (std::size_t i = 0; i < timers; ++i) {
      all = all && executor.statistics(static_cast<sched::TaskIndex>(i)).completed > 20;
    }
    return all;
  };
  EXPECT_TRUE(eventually(enough));
  const std::uint64_t after = allocations;
  executor.stop();
  for (const executor::LimitStatistics& limit : executor.limits()) {
    EXPECT_GT(limit.checked, 0U) << limit.subject;
  }
  Used used{.allocations = after - before};
  for (std::size_t i = 0; i < timers; ++i) {
    used.faults[i] = of_timers[i].last - of_timers[i].warm;
  }
  return used;
}

TEST_P(Loop, AllocatesNothingAfterItHasWarmedUp) {
  EXPECT_EQ(used_by(GetParam()).allocations, 0U);
}

// By itself: an emulator faults where it translates code, whatever the program does.
TEST_P(Loop, MeetsNoPageFaultAfterItHasWarmedUp) {
  EXPECT_EQ(used_by(GetParam()).faults, (std::array<std::int64_t, timers>{}));
}

// What it looks for each second is looked for in a thread of its own, beside the loop.
TEST(Housekeeping, AllocatesNothingWhileNothingChanges) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers allocate by themselves";
  }
  Executor executor{{.cpus = {0}, .on_not_granted = [](const auto&) {}}};
  executor.add(timer("task", 10ms, 10), {.callback = [](const auto&) {}});
  executor.start();
  os::sleep_until(executor.start_time() + 100ms);
  const std::uint64_t before = allocations;
  os::sleep_until(executor.start_time() + 1300ms);
  const std::uint64_t after = allocations;
  executor.stop();
  EXPECT_EQ(after - before, 0U);
}

// Far below what the calling thread uses of its stack.
bool deep_stack_is_resident() {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto below = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - (1U << 20U);
  unsigned char state = 0;
  mincore(reinterpret_cast<void*>(below / page * page), page, &state);
  return (state & 1U) != 0;
}

TEST(Stacks, AreResidentUnlessTheyNeedNotBe) {
  if (os::test::sanitized || !os::lock_memory().empty()) {
    GTEST_SKIP() << "memory cannot be locked here";
  }
  Executor executor{{.cpus = {0}, .on_not_granted = [](const auto&) {}}};
  std::array<bool, 3> resident{};
  for (std::size_t i = 0; i < resident.size(); ++i) {
    sched::Task task = timer("task" + std::to_string(i), 1ms, 10);
    task.waits = i > 0;
    executor.add(task, {.callback = [&, i](const auto&) { resident[i] = deep_stack_is_resident(); },
                        .resident_stack = i < 2});
  }
  run_until_each_completed(executor, 1);
  EXPECT_TRUE(resident[0]);  // of a core
  EXPECT_TRUE(resident[1]);  // its own
  EXPECT_FALSE(resident[2]);
}

INSTANTIATE_TEST_SUITE_P(Policies, Loop, ::testing::Values("fp", "edf", "np-edf"), policy_name);

}  // namespace
}  // namespace takt::test
