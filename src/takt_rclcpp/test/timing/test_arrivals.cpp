// SPDX-License-Identifier: Apache-2.0
//
// Nothing that was announced is lost or handled twice, in order, whatever the executor forgets:
// random operations against a plain queue, and a real executor.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "arrivals.hpp"
#include "takt/executor/executor.hpp"

namespace takt::test {
namespace {

using namespace std::chrono_literals;

// What Arrivals sees of an executor: it remembers so many releases, and has one job at a time.
struct Core {
  std::uint32_t queue = 0;
  std::uint32_t waiting = 0;  // remembered
  std::uint64_t dropped = 0;  // since ever
  bool taken = false;         // a job that has not begun
  std::uint64_t lost = 0;
  std::uint64_t overwritten = 0;  // told of
};

class Handle {
 public:
  Handle() = default;
  explicit Handle(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  // NOLINTNEXTLINE(modernize-use-nodiscard): as the executor's
  bool notify(std::uint32_t count) const noexcept {
    if (core_ == nullptr) {
      return false;
    }
    const std::uint32_t kept = std::min(count, core_->queue - core_->waiting);
    core_->waiting += kept;
    core_->lost += count - kept;
    return kept == count;
  }
  void lost(std::uint32_t count) const noexcept { core_->overwritten += count; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return core_ ? core_->dropped : 0; }

 private:
  std::shared_ptr<Core> core_;
};

// Arrivals, the executor, and what it should be: a queue.
class Play {
 public:
  Play(std::size_t limit, std::uint32_t queue)
      : limit_{limit}, queue_{queue}, arrivals_{limit, queue, has_values()} {}

  // Only what has no limit, as a waitable, tells values apart.
  [[nodiscard]] bool has_values() const { return limit_ == ~std::size_t{0}; }
  void arrive(std::size_t count, std::int64_t given) {
    const std::int64_t value = has_values() ? given : 0;
    arrivals_.arrive(count, value);
    for (; count > 0 && expected_.size() < limit_; --count) {
      expected_.push_back(value);
    }
    overwritten_ += core_ ? count : 0;
    stirred();
  }
  void open() {
    core_ = std::make_shared<Core>(Core{.queue = queue_, .dropped = before_++});
    overwritten_ = 0;
    arrivals_.open(Handle{core_});
    clean_ = true;
    stirred();
  }
  void close() {
    arrivals_.close();
    core_.reset();
  }
  // The executor makes a job of what it remembers.
  void take_up() {
    if (core_ && core_->waiting > 0 && !core_->taken) {
      --core_->waiting;
      core_->taken = true;
    }
  }
  // False: there is none.
  bool begin() {
    if (!core_ || !core_->taken) {
      return false;
    }
    core_->taken = false;
    const auto value = arrivals_.take_for_job();
    if (clean_) {
      EXPECT_TRUE(value) << "a job for nothing";
    }
    expect_next(value);
    stirred();
    return true;
  }
  // Somebody reads before a job could.
  void read() {
    const auto value = arrivals_.take();
    expect_next(value);
    clean_ = clean_ && !value;
  }
  // An overrun, or a scenario without this callback.
  void drop() {
    if (core_) {
      core_->dropped += core_->waiting + (core_->taken ? 1 : 0);
      core_->waiting = 0;
      core_->taken = false;
    }
  }
  // Everything that is there comes to a job.
  void finish() {
    if (!core_) {
      open();
    }
    arrive(1, 99);
    for (int i = 0; i < 10000 && !expected_.empty(); ++i) {
      take_up();
      begin();
    }
    EXPECT_TRUE(expected_.empty()) << expected_.size() << " were forgotten";
    EXPECT_EQ(arrivals_.take(), std::nullopt);
  }
  [[nodiscard]] std::uint64_t lost() const { return core_ ? core_->lost : 0; }

 private:
  void expect_next(std::optional<std::int64_t> value) {
    if (expected_.empty()) {
      EXPECT_EQ(value, std::nullopt);
    } else {
      EXPECT_EQ(value, expected_.front());
      expected_.pop_front();
    }
  }
  // What waits has a job, as soon as anything happens.
  void stirred() const {
    if (core_) {
      EXPECT_EQ(core_->overwritten, overwritten_);
    }
    if (core_ && !expected_.empty()) {
      EXPECT_TRUE(core_->waiting > 0 || core_->taken) << "nobody will look at what has arrived";
      EXPECT_EQ(core_->lost, 0U);
    }
  }

  const std::size_t limit_;
  const std::uint32_t queue_;
  takt_rclcpp::BasicArrivals<Handle> arrivals_;
  std::deque<std::int64_t> expected_;
  std::shared_ptr<Core> core_;
  std::uint64_t before_ = 0;       // an executor that starts again goes on counting
  bool clean_ = true;              // nobody else has read
  std::uint64_t overwritten_ = 0;  // while it was open
};

class RandomArrivals : public testing::TestWithParam<std::pair<std::size_t, std::uint32_t>> {};

INSTANTIATE_TEST_SUITE_P(LimitAndQueue, RandomArrivals,
                         testing::Values(std::pair{~std::size_t{0}, 16U}, std::pair{1U, 1U},
                                         std::pair{1U, 16U}, std::pair{10U, 4U},
                                         std::pair{100U, 1U}, std::pair{16U, 16U}));

TEST_P(RandomArrivals, areHandledOnceAndInOrder) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random{seed};
    Play play{GetParam().first, GetParam().second};
    const bool drops = seed % 3 == 1;
    const bool reads = seed % 3 == 2;
    for (int step = 0; step < 200; ++step) {
      switch (random() % 12) {
        case 0:
          random() % 4 == 0 ? play.close() : play.open();
          break;
        case 1:
          if (drops) {
            play.drop();
          }
          break;
        case 2:
          if (reads) {
            play.read();
          }
          break;
        case 3:
        case 4:
        case 5:
          play.arrive(random() % 8 == 0 ? 40 : random() % 3,
                      static_cast<std::int64_t>(random() % 3));
          break;
        case 6:
        case 7:
        case 8:
          play.take_up();
          break;
        default:
          play.begin();
      }
      if (HasFailure()) {
        return;
      }
    }
    play.finish();
    EXPECT_EQ(play.lost(), 0U);
    if (HasFailure()) {
      return;
    }
  }
}

// A scenario without the callback drops as many as the executor remembers, and no job comes.
TEST(Arrivals, areAnnouncedAgainWhenTheExecutorHasDroppedAllOfThem) {
  for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 1000U}) {
    SCOPED_TRACE(count);
    Play play{~std::size_t{0}, 16};
    play.open();
    for (std::size_t i = 0; i < count; ++i) {
      play.arrive(1, 5);
      play.drop();
    }
    play.finish();
  }
}

TEST(Arrivals, atMostTheLimitIsKept) {
  takt_rclcpp::BasicArrivals<Handle> arrivals{3, 16, false};
  arrivals.arrive(~std::size_t{0}, 1);
  arrivals.arrive(~std::size_t{0}, 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(arrivals.take(), 0);
  }
  EXPECT_EQ(arrivals.take(), std::nullopt);
}

// Of what a reader has, also when its messages were worked on by their own jobs.
TEST(Arrivals, whenTheNewestCameIsKnownOnceItIsKept) {
  takt_rclcpp::BasicArrivals<Handle> arrivals{3, 16, false};
  arrivals.arrive(1, 0);
  EXPECT_EQ(arrivals.newest(), std::nullopt);
  arrivals.keep_times();
  const auto before = os::now();
  arrivals.arrive(1, 0);
  const auto first = arrivals.newest();
  ASSERT_TRUE(first);
  EXPECT_GE(*first, before);
  EXPECT_LE(*first, os::now());
  arrivals.arrive(0, 0);  // nothing has come
  EXPECT_EQ(arrivals.newest(), first);
  while (arrivals.take()) {
  }
  EXPECT_EQ(arrivals.newest(), first);
  arrivals.arrive(5, 0);  // more than are kept
  EXPECT_GE(arrivals.newest(), first);
}

class Source final : public executor::JobSource {
 public:
  explicit Source(sched::Overrun overrun) : overrun_{overrun} {}
  [[nodiscard]] sched::Task describe() const override {
    sched::Task task;
    task.name = "receiver";
    task.kind = sched::TaskKind::message;
    task.trigger = "outside";
    task.parameters.priority = 10;
    task.parameters.overrun = overrun_;
    return task;
  }
  executor::Outcome run(const sched::Job& /*job*/) override {
    if (arrivals.take_for_job()) {
      ++handled;
    }
    return {};
  }
  void arm(const executor::ReleaseHandle& release) override {
    arrivals.open(takt_rclcpp::Releases{{release}});
  }
  void disarm() noexcept override { arrivals.close(); }

  takt_rclcpp::Arrivals arrivals{~std::size_t{0}, 16, true};
  std::atomic<std::uint64_t> handled{0};

 private:
  const sched::Overrun overrun_;
};

bool eventually(const std::function<bool()>& holds) {
  const auto deadline = os::now() + 150s;
  while (!holds()) {
    if (os::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class RealExecutor : public testing::TestWithParam<sched::Overrun> {};

INSTANTIATE_TEST_SUITE_P(Overruns, RealExecutor,
                         testing::Values(sched::Overrun::catch_up, sched::Overrun::queue_one,
                                         sched::Overrun::skip));

// Two threads announce as fast as they can, again and again; what one executor leaves, the next one
// handles.
TEST_P(RealExecutor, handlesAllThatArrives) {
  constexpr std::uint64_t each = 1000;
  const auto source = std::make_shared<Source>(GetParam());
  executor::Executor executor{
      {.external_topics = {"outside"}, .on_not_granted = [](const auto&) {}}};
  executor.add(source->describe(), {.source = source});
  std::uint64_t sent = 0;
  for (int round = 0; round < 4; ++round) {
    executor.start();
    std::vector<std::thread> senders;
    for (std::int64_t value = 0; value < 2; ++value) {
      senders.emplace_back([&source, value] {
        for (std::uint64_t i = 0; i < each; ++i) {
          source->arrivals.arrive(1, value);
          if (i % 100 == 0) {
            std::this_thread::sleep_for(1ms);
          }
        }
      });
    }
    for (std::thread& sender : senders) {
      sender.join();
    }
    sent += 2 * each;
    if (round == 3) {
      EXPECT_TRUE(eventually([&] {
        if (GetParam() != sched::Overrun::catch_up) {  // what was skipped waits for the next one
          source->arrivals.arrive(1, 0);
          ++sent;
        }
        return source->handled >= 8 * each;
      })) << source->handled
          << " of " << sent;
    }
    executor.stop();
  }
  EXPECT_LE(source->handled, sent);
}

}  // namespace
}  // namespace takt::test
