// SPDX-License-Identifier: Apache-2.0
//
// What the subjects of the fuzz share: drawing, patience, and a watchdog that ends the process
// where a round hangs. A failure prints the subject and the seed of its round.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"

namespace takt::fuzz {

using namespace std::chrono_literals;
using takt_rclcpp::SchedulingExecutor;

using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t limit) {
  return random() % limit;
}
inline bool one_in(Random& random, std::uint64_t count) {
  return below(random, count) == 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A sanitizer's own spin lock may never be given back by a thread that is preempted without end.
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
inline constexpr std::chrono::seconds patience{200};

// Ends the process: sanitizers and debuggers show where each thread is.
[[noreturn]] void fail(std::string_view what);

inline void check(bool holds, std::string_view what) {
  if (!holds) {
    fail(what);
  }
}

// Fails if it does not become true.
template <class Predicate>
void expect_eventually(std::string_view what, Predicate holds) {
  const auto deadline = os::now() + patience;
  while (!holds()) {
    check(os::now() < deadline, what);
    os::sleep_until(os::now() + 1ms);
  }
}

// A subject: one round, drawn from a seed, leaves nothing behind.
struct Subject {
  std::string_view name;
  std::function<void(Random&)> round;
};

// Those that this build has: what it needs of ROS 2 may be missing.
const std::vector<Subject>& subjects();
void nodes(Random& random);
void destruction(Random& random);
void clocks(Random& random);
void crowd(Random& random);
void libraries(Random& random);
void actions(Random& random);
void lifecycle(Random& random);
void container(Random& random);

// How many entities `crowd` makes in a round.
extern std::size_t crowd_size;

// A context of its own, in the process's domain.
inline rclcpp::Context::SharedPtr make_context() {
  auto context = std::make_shared<rclcpp::Context>();
  rclcpp::InitOptions options;
  options.shutdown_on_signal = false;
  options.auto_initialize_logging(false);
  context->init(0, nullptr, options);
  return context;
}

// Any policy that lets nodes come as they like, on one core or two.
takt_rclcpp::Options draw_options(Random& random);

// An executor that spins on a thread of its own until it goes, again after each cancel().
class Host {
 public:
  Host(takt_rclcpp::Options options, const rclcpp::Context::SharedPtr& context);
  ~Host() { end(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  Host(Host&&) = delete;
  Host& operator=(Host&&) = delete;

  void end();
  // Waits until nothing runs of what has been removed.
  void expect_gone() {
    const auto is_gone = executor.when_gone();
    expect_eventually("callbacks of a removed node do not end", [&] { return is_gone(); });
  }

  SchedulingExecutor executor;

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// What each callback has of its own: a sanitizer sees when it is destroyed too early, or never.
class Token {
 public:
  void use() const { check(*part_ == 1, "a callback has lost what it captured"); }

  // Fails when a token of the round is still there.
  class Count {
   public:
    [[nodiscard]] Token make() const { return Token{count_}; }
    void expect_none() const {
      expect_eventually("callbacks are not destroyed", [&] { return count_.use_count() == 1; });
    }

   private:
    std::shared_ptr<int> count_ = std::make_shared<int>(0);
  };

 private:
  explicit Token(std::shared_ptr<int> count) : count_{std::move(count)} {}

  std::shared_ptr<int> count_;
  std::shared_ptr<int> part_ = std::make_shared<int>(1);
};

}  // namespace takt::fuzz
