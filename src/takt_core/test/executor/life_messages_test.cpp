// SPDX-License-Identifier: Apache-2.0
//
// Messages at every moment of an executor's life: none crashes it, none is lost, and no timer is
// there that could make up for a wake-up that was.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "../os/sanitizer.hpp"
#include "../policies.hpp"
#include "support.hpp"

namespace takt::test {
namespace {

class LifeMessages : public UnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, LifeMessages, ::testing::Values("fp", "edf", "np-edf"),
                         policy_name);

// Somebody who announces messages again and again until destroyed.
class Publisher {
 public:
  explicit Publisher(executor::ReleaseHandle release)
      : thread_{[this, release] {
          while (!done_) {
            accepted_ += release.notify() ? 1 : 0;
            std::this_thread::yield();
          }
        }} {}
  ~Publisher() { stop(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  Publisher(Publisher&&) = delete;
  Publisher& operator=(Publisher&&) = delete;

  // How many were accepted in all.
  std::uint64_t stop() {
    done_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
    return accepted_;
  }

 private:
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> accepted_{0};
  std::thread thread_;
};

TEST_P(LifeMessages, MayArriveWhileTheExecutorStarts) {
  for (int round = 0; round < 30; ++round) {
    std::atomic<std::uint64_t> runs{0};
    Executor executor{options()};
    const auto receiver =
        executor.add(message("receiver", "outside", 30), {[&](const auto&) { ++runs; }});
    Publisher publisher{receiver.release};
    executor.start();
    EXPECT_TRUE(eventually([&] { return runs > 0; }));
    const std::uint64_t accepted = publisher.stop();
    EXPECT_TRUE(eventually([&] { return runs == accepted; })) << runs << " of " << accepted;
    executor.stop();
  }
}

TEST_P(LifeMessages, MayArriveWhileOthersAreAddedAndRemoved) {
  std::atomic<std::uint64_t> runs{0};
  Executor executor{options()};
  const auto receiver =
      executor.add(message("receiver", "outside", 30), {[&](const auto&) { ++runs; }});
  executor.start();
  Publisher publisher{receiver.release};
  for (int round = 0; round < 30; ++round) {
    const std::string name = "guest" + std::to_string(round);
    // Each needs threads that were not there before.
    executor.add(timer(name, 1ms, 31 + round, 1s - round * 10ms), {[](const auto&) {}});
    if (round % 2 == 0) {
      executor.remove(name).wait();
    }
  }
  const std::uint64_t accepted = publisher.stop();
  // All of them together may take a slow core for themselves, as their priorities allow.
  for (int round = 1; round < 30; round += 2) {
    executor.remove("guest" + std::to_string(round)).wait();
  }
  EXPECT_TRUE(eventually([&] { return runs == accepted; })) << runs << " of " << accepted;
  executor.stop();
}

// Sent at ever other distances from the end of the job before, while its thread falls asleep.
TEST_P(LifeMessages, EachWakesAThreadThatFellAsleepAfterThePrevious) {
  const std::uint64_t messages = os::test::sanitized ? 10'000 : 100'000;
  os::Event called;
  Executor executor{options()};
  const auto receiver =
      executor.add(message("receiver", "outside", 30), {[&](const auto&) { called.notify(); }});
  executor.start();
  for (std::uint64_t sent = 0; sent < messages; ++sent) {
    ASSERT_TRUE(receiver.release.notify()) << "message " << sent;
    ASSERT_TRUE(called.wait_until(os::now() + patience)) << "message " << sent << " was forgotten";
    const auto give_up = os::now() + patience;
    while (executor.statistics(receiver.index).completed <= sent) {
      ASSERT_LT(os::now(), give_up) << "the job of message " << sent << " has not ended";
      std::this_thread::yield();
    }
    burn(sent % 64 * 100ns);
  }
  EXPECT_EQ(executor.statistics(receiver.index).completed, messages);
  executor.stop();
}

}  // namespace
}  // namespace takt::test
