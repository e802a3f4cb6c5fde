// SPDX-License-Identifier: Apache-2.0
//
// From publish() to the begin of the subscription's callback, by pointer: to a thread of higher
// priority, or to the same one. And what a hand-over between two threads costs by itself.
#include <atomic>
#include <takt/os/clock.hpp>
#include <takt/os/futex.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/node.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

constexpr nanoseconds period = 1ms;
constexpr int low = 40;
constexpr int high = 60;

class Latencies {
 public:
  explicit Latencies(nanoseconds duration) {
    values_.reserve(static_cast<std::size_t>(duration / period) + 1000);
  }
  void add(nanoseconds value) {
    if (values_.size() < values_.capacity()) values_.push_back(value.count());
  }
  // The first ones, which meet cold caches, are left out.
  void print(const Settings& settings) {
    constexpr std::size_t cold = 20;
    std::vector<std::int64_t> warm{
        values_.begin() + static_cast<std::ptrdiff_t>(std::min(cold, values_.size())),
        values_.end()};
    std::ranges::sort(warm);
    const auto us = [&](double p) {
      return std::to_string(static_cast<double>(quantile(warm, p)) / 1000);
    };
    print_document(settings, "\"samples\": " + std::to_string(warm.size()) + ", \"p50_us\": " +
                                 us(0.5) + ", \"p99_us\": " + us(0.99) + ", \"max_us\": " + us(1));
  }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace

void intra(const Settings& settings) {
  using Message = takt_interfaces::msg::Sample;
  stay_on(settings.cpu);
  const Context context;
  const Node node{context, "intra"};
  const auto publisher = node.create_publisher<Message>("sample", QoS{1});
  Latencies latencies{settings.duration};
  const auto timer = node.create_timer(period, [&] {
    auto message = std::make_unique<Message>();
    message->payload.resize(settings.payload);
    message->sent_ns = os::now().time_since_epoch().count();
    static_cast<void>(publisher->publish(std::move(message)));
  });
  const auto subscription =
      node.create_subscription<Message>("sample", QoS{1}, [&](std::unique_ptr<Message> message) {
        latencies.add(os::now() - os::TimePoint{nanoseconds{message->sent_ns}});
      });
  SchedulingExecutor executor{
      {.policy = fixed_priority(), .cpus = {settings.cpu}, .on_shortfalls = note_shortfalls}};
  executor.add(timer, {.priority = low});
  executor.add(subscription, {.priority = settings.same_thread ? low : high});
  executor.start();
  os::sleep_until(os::now() + settings.duration);
  executor.stop();
  latencies.print(settings);
}

void handover(const Settings& settings) {
  os::FutexWord word{0};
  std::atomic<std::int64_t> sent{0};
  constexpr std::uint32_t finished = 0xFFFFFFFF;
  Latencies latencies{settings.duration};
  const auto thread = [&](int priority, const char* name) {
    return os::ThreadSettings{.policy = os::SchedulingPolicy::fifo,
                              .priority = priority,
                              .cpus = {settings.cpu},
                              .name = name};
  };
  os::Thread receiver{thread(high, "receiver"), [&] {
                        for (std::uint32_t seen = 0;;) {
                          const std::uint32_t now_set = word.load();
                          if (now_set == finished) return;
                          if (now_set == seen) {
                            static_cast<void>(os::futex_wait(word, seen));
                            continue;
                          }
                          latencies.add(os::now() - os::TimePoint{nanoseconds{sent.load()}});
                          seen = now_set;
                        }
                      }};
  os::Thread sender{thread(low, "sender"), [&] {
                      const os::TimePoint begin = os::now();
                      for (auto next = begin; next < begin + settings.duration; next += period) {
                        os::sleep_until(next);
                        sent.store(os::now().time_since_epoch().count());
                        word.fetch_add(1);
                        os::futex_wake(word, 1);
                      }
                      word.store(finished);
                      os::futex_wake(word, 1);
                    }};
  sender.join();
  receiver.join();
  note_shortfalls(sender.shortfalls());
  note_shortfalls(receiver.shortfalls());
  latencies.print(settings);
}

}  // namespace takt::bench
