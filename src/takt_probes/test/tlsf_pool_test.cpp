// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/tlsf_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "takt/os/usage.hpp"

namespace takt::probe {
namespace {

// What each block that is in use should hold, by its address.
class Model {
 public:
  explicit Model(TlsfPool& pool, unsigned seed) : pool_{pool}, random_{seed} {}

  void step() {
    const unsigned what = random_() % 8;
    if (what < 4 || blocks_.empty()) {
      enter(pool_.allocate(next_size()));
    } else {
      auto one = std::next(blocks_.begin(), static_cast<long>(random_() % blocks_.size()));
      expect_kept(*one, one->second.size());
      if (what < 7) {
        pool_.deallocate(one->first);
        blocks_.erase(one);
      } else {
        resize(one);
      }
    }
  }

  void empty() {
    for (const auto& block : blocks_) {
      expect_kept(block, block.second.size());
      pool_.deallocate(block.first);
    }
    blocks_.clear();
  }

  std::size_t refused() const { return refused_; }

 private:
  using Blocks = std::map<std::byte*, std::vector<std::byte>>;

  std::size_t next_size() {
    const std::size_t most = std::size_t{1} << (random_() % 15);
    return last_size_ = random_() % most;
  }

  void enter(void* memory) {
    if (memory == nullptr) {
      ++refused_;
      return;
    }
    auto* const at = static_cast<std::byte*>(memory);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % TlsfPool::alignment, 0U);
    EXPECT_TRUE(pool_.owns(at));
    EXPECT_TRUE(pool_.owns(at + last_size_));
    const auto after = blocks_.upper_bound(at);
    EXPECT_TRUE(after == blocks_.end() || at + last_size_ <= after->first);
    if (after != blocks_.begin()) {
      const auto& before = *std::prev(after);
      EXPECT_LE(before.first + before.second.size(), at);
    }
    std::vector<std::byte> content(last_size_);
    std::ranges::generate(content, [this] { return static_cast<std::byte>(random_()); });
    std::ranges::copy(content, at);
    blocks_.emplace(at, std::move(content));
  }

  void resize(Blocks::iterator one) {
    const std::size_t size = next_size();
    void* const moved = pool_.reallocate(one->first, size);
    if (moved == nullptr) {
      ++refused_;
      expect_kept(*one, one->second.size());
      return;
    }
    const std::vector<std::byte> old = std::move(one->second);
    blocks_.erase(one);
    expect_kept({static_cast<std::byte*>(moved), old}, std::min(size, old.size()));
    enter(moved);
  }

  static void expect_kept(const Blocks::value_type& block, std::size_t size) {
    ASSERT_TRUE(std::equal(block.second.begin(), block.second.begin() + static_cast<long>(size),
                           block.first));
  }

  TlsfPool& pool_;
  std::mt19937 random_;
  Blocks blocks_;
  std::size_t last_size_ = 0;
  std::size_t refused_ = 0;
};

class Random : public testing::TestWithParam<unsigned> {};

TEST_P(Random, operations_keep_what_a_model_says_and_leave_one_block) {
  TlsfPool pool{64 * 1024};
  Model model{pool, GetParam()};
  for (int step = 0; step < 5000; ++step) {
    model.step();
    if (step % 50 == 0) {
      ASSERT_TRUE(pool.consistent()) << "step " << step;
    }
  }
  EXPECT_EQ(pool.refused(), model.refused());
  EXPECT_GT(model.refused(), 0U) << "it never was full";
  EXPECT_GT(pool.peak(), 32U * 1024);
  model.empty();
  EXPECT_TRUE(pool.consistent());
  EXPECT_EQ(pool.used(), 0U);
  void* const nearly_all = pool.allocate(60 * 1024);  // joined again
  EXPECT_NE(nearly_all, nullptr);
  pool.deallocate(nearly_all);
}

INSTANTIATE_TEST_SUITE_P(TlsfPool, Random, testing::Range(0U, 20U));

TEST(TlsfPool, sizes_that_cannot_be_are_refused) {
  EXPECT_THROW(TlsfPool{0}, std::invalid_argument);
  EXPECT_THROW(TlsfPool{~std::size_t{0}}, std::invalid_argument);
  TlsfPool pool{TlsfPool::least_bytes};
  EXPECT_EQ(pool.allocate(TlsfPool::least_bytes), nullptr);
  EXPECT_EQ(pool.allocate(~std::size_t{0}), nullptr);
  EXPECT_EQ(pool.refused(), 2U);
  void* const nothing = pool.allocate(0);
  EXPECT_NE(nothing, nullptr);
  EXPECT_EQ(pool.reallocate(nothing, ~std::size_t{0}), nullptr);
  pool.deallocate(nothing);
  pool.deallocate(nullptr);
  EXPECT_TRUE(pool.consistent());
  EXPECT_EQ(pool.used(), 0U);
}

TEST(TlsfPool, all_of_it_is_there_before_it_is_used) {
  TlsfPool pool{8 * 1024 * 1024};
  std::vector<void*> blocks(1000);
  std::mt19937 random{7};
  pool.deallocate(pool.allocate(1));  // code that is used for the first time faults, too
  const auto before = os::resource_usage(os::UsageOf::thread);
  for (int round = 0; round < 20; ++round) {
    for (void*& block : blocks) {
      block = pool.allocate(random() % 8000);
      std::memset(block, round, 1);
    }
    std::ranges::for_each(blocks, [&](void* block) { pool.deallocate(block); });
  }
  const auto used = os::resource_usage(os::UsageOf::thread) - before;
  EXPECT_EQ(used.minor_faults, 0);
  EXPECT_EQ(used.major_faults, 0);
}

TEST(TlsfPool, threads_share_it) {
  TlsfPool pool{4 * 1024 * 1024};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pool, seed] {
      Model model{pool, seed};
      for (int step = 0; step < 5000; ++step) {
        model.step();
      }
      model.empty();
    });
  }
  for (std::thread& one : threads) {
    one.join();
  }
  EXPECT_TRUE(pool.consistent());
  EXPECT_EQ(pool.used(), 0U);
}

}  // namespace
}  // namespace takt::probe
