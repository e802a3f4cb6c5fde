// SPDX-License-Identifier: Apache-2.0
//
// What is watched of one callback: its limits, its places in chains, and which data its last jobs
// had. Everything is allocated before the start.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "takt/executor/monitor.hpp"
#include "takt/executor/options.hpp"
#include "takt/sched/compiled_application.hpp"

namespace takt::executor {

inline constexpr std::int64_t no_origin = std::numeric_limits<std::int64_t>::min();

// One limit and what was seen of it. Any thread may count and read.
class Limit {
 public:
  Limit(Quantity of, std::chrono::nanoseconds most, double share) noexcept
      : quantity{of}, limit{most}, allowed{share} {}

  const Quantity quantity;
  const std::chrono::nanoseconds limit;
  const double allowed;

  // `above`: how many of them exceed the limit.
  void count(std::uint64_t all, std::uint64_t above) noexcept {
    checked_.fetch_add(all, std::memory_order_relaxed);
    if (above != 0) {
      exceeded_.fetch_add(above, std::memory_order_relaxed);
    }
  }
  void raise_worst_to(std::chrono::nanoseconds value) noexcept {
    std::int64_t worst = worst_.load(std::memory_order_relaxed);
    while (worst < value.count() &&
           !worst_.compare_exchange_weak(worst, value.count(), std::memory_order_relaxed)) {
    }
  }
  struct Counts {
    std::uint64_t checked = 0;
    std::uint64_t exceeded = 0;
  };
  [[nodiscard]] Counts counts() const noexcept {
    return {.checked = checked_.load(std::memory_order_relaxed),
            .exceeded = exceeded_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] LimitStatistics statistics() const {
    LimitStatistics result;
    result.quantity = quantity;
    result.limit = limit;
    result.allowed = allowed;
    const Counts counted = counts();
    result.checked = counted.checked;
    result.exceeded = counted.exceeded;
    result.worst = std::chrono::nanoseconds{worst_.load(std::memory_order_relaxed)};
    return result;
  }

 private:
  std::atomic<std::uint64_t> checked_{0};
  std::atomic<std::uint64_t> exceeded_{0};
  std::atomic<std::int64_t> worst_{0};
};

// One chain with limits.
struct WatchedChain {
  explicit WatchedChain(const ChainLimits& limits)
      : name{limits.chain},
        latency{Quantity::latency, limits.latency, limits.late},
        age{Quantity::age, limits.age, limits.late} {}

  const std::string name;
  Limit latency;
  Limit age;
  std::atomic<std::uint64_t> begun{0};          // jobs of the first callback that have ended
  std::atomic<std::int64_t> newest{no_origin};  // release of the newest data that has arrived
};

// The origins of what a job had, by place of its callback: the release of the first job along the
// chain.
using Origins = std::array<std::int64_t, most_places>;

// The last jobs of one callback, by the keys of what they publish: sample times, and those of
// publish_message(). One thread writes; any thread may read at the same time.
class RecentJobs {
 public:
  explicit RecentJobs(std::size_t places)
      : places_{places}, stamps_(remembered_jobs), origins_(remembered_jobs * places) {}

  void push(std::int64_t stamp, const Origins& origins) noexcept;
  // no_origin: of no job that is remembered.
  [[nodiscard]] std::int64_t origin(std::int64_t stamp, std::size_t place) const noexcept;

 private:
  std::size_t places_;
  // Side by side, because they are searched; no_origin: is being written.
  std::vector<std::atomic<std::int64_t>> stamps_;
  std::vector<std::atomic<std::int64_t>> origins_;  // of each job those of all places
  std::atomic<std::uint64_t> pushed_{0};
};

// The topics that a callback writes. One thread adds; any thread may ask.
class WrittenTopics {
 public:
  void add(std::uint16_t topic) noexcept;
  [[nodiscard]] bool has(std::uint16_t topic) const noexcept;

 private:
  static constexpr std::size_t most = 64;
  std::array<std::atomic<std::uint16_t>, most> topics_{};
  std::atomic<std::size_t> count_{0};
};

struct Watched {
  explicit Watched(std::string callback) : name{std::move(callback)} {}

  struct Place {
    WatchedChain* chain = nullptr;
    bool last = false;
    const Watched* maker = nullptr;  // the callback before it; null: it is the first
    std::size_t place_of_maker = 0;  // among its places
  };
  struct OfRead {
    OfRead(std::string name, std::chrono::nanoseconds age, double late)
        : topic{std::move(name)}, limit{Quantity::age, age, late} {}
    const std::string topic;
    std::atomic<const sched::Topic*> of{nullptr};  // set when the task is prepared
    Limit limit;
  };

  const std::string name;
  std::unique_ptr<Limit> response;
  std::unique_ptr<Limit> skipped;
  std::unique_ptr<Limit> dropped;
  std::deque<OfRead> reads;
  std::vector<Place> places;
  std::unique_ptr<RecentJobs> recent;  // null: nobody asks for it
  WrittenTopics writes;
};

}  // namespace takt::executor
