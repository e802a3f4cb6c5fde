// SPDX-License-Identifier: Apache-2.0
//
// From publish() to the begin of the subscription's callback, by pointer: to a thread of higher
// priority, or within one thread along a chain of callbacks, each of which sends the message on.
// The first one of the chain meets caches that a millisecond of sleep has left cold, so it is told
// apart. And what a hand-over between two threads costs by itself.
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
  Latencies(nanoseconds duration, std::size_t each_period) {
    values_.reserve((static_cast<std::size_t>(duration / period) + 1000) * each_period);
  }
  void add(nanoseconds value) {
    if (values_.size() < values_.capacity()) {
      values_.push_back(value.count());
    }
  }
  // "p50_us": …; the very first ones, while everything is new, are left out.
  [[nodiscard]] Json figures(const std::string& prefix = "") {
    constexpr std::size_t fresh = 20;
    std::vector<std::int64_t> warm{
        values_.begin() + static_cast<std::ptrdiff_t>(std::min(fresh, values_.size())),
        values_.end()};
    std::ranges::sort(warm);
    const auto us = [&](double p) { return static_cast<double>(quantile(warm, p)) / 1000; };
    return {{prefix + "samples", warm.size()},
            {prefix + "p50_us", us(0.5)},
            {prefix + "p99_us", us(0.99)},
            {prefix + "max_us", us(1)}};
  }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace

void intra(const Settings& settings) {
  using Message = takt_interfaces::msg::Sample;
  const std::size_t hops = settings.same_thread ? 10 : 1;
  stay_on(settings.cpu);
  const Context context;
  const Node node{context, "intra"};
  std::vector<std::shared_ptr<Publisher<Message>>> publishers;
  publishers.reserve(hops);
  for (std::size_t i = 0; i < hops; ++i) {
    publishers.push_back(node.create_publisher<Message>("sample" + std::to_string(i), QoS{1}));
  }
  const auto send = [&](std::size_t hop, std::unique_ptr<Message> message) {
    message->sent_ns = os::now().time_since_epoch().count();
    static_cast<void>(publishers[hop]->publish(std::move(message)));
  };
  Latencies first{settings.duration, 1};
  Latencies all{settings.duration, hops};
  SchedulingExecutor executor{
      {.policy = fixed_priority(), .cpus = {settings.cpu}, .on_not_granted = note_not_granted}};
  executor.add(node.create_timer(period,
                                 [&] {
                                   auto message = std::make_unique<Message>();
                                   message->payload.resize(settings.payload);
                                   send(0, std::move(message));
                                 }),
               {.priority = low});
  for (std::size_t i = 0; i < hops; ++i) {
    executor.add(node.create_subscription<Message>(
                     "sample" + std::to_string(i), QoS{1},
                     [&, i](std::unique_ptr<Message> message) {
                       const nanoseconds latency =
                           os::now() - os::TimePoint{nanoseconds{message->sent_ns}};
                       if (i == 0) {
                         first.add(latency);
                       }
                       all.add(latency);
                       if (i + 1 < hops) {
                         send(i + 1, std::move(message));
                       }
                     }),
                 {.priority = settings.same_thread ? low : high});
  }
  executor.start();
  os::sleep_until(os::now() + settings.duration);
  executor.stop();
  Json figures = all.figures();
  figures.update(first.figures("first_"));
  print_document(settings, figures);
}

void handover(const Settings& settings) {
  os::FutexWord word{0};
  std::atomic<std::int64_t> sent{0};
  constexpr std::uint32_t finished = 0xFFFFFFFF;
  Latencies latencies{settings.duration, 1};
  const auto thread = [&](int priority, const char* name) {
    return os::ThreadSettings{.policy = os::SchedulingPolicy::fifo,
                              .priority = priority,
                              .cpus = {settings.cpu},
                              .name = name};
  };
  os::Thread receiver{thread(high, "receiver"), [&] {
                        for (std::uint32_t before = 0;;) {
                          const std::uint32_t now_set = word.load();
                          if (now_set == finished) {
                            return;
                          }
                          if (now_set == before) {
                            static_cast<void>(os::futex_wait(word, before));
                            continue;
                          }
                          latencies.add(os::now() - os::TimePoint{nanoseconds{sent.load()}});
                          before = now_set;
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
  note_not_granted(sender.not_granted());
  note_not_granted(receiver.not_granted());
  print_document(settings, latencies.figures());
}

}  // namespace takt::bench
