// SPDX-License-Identifier: Apache-2.0
//
// What an executor costs between two callbacks, as tables 5.6 to 5.8 of Krukiewicz-Gacek (2021)
// have it, on their applications: nodes with one timer each, half of the processor used, periods
// spread equally, rate-monotonic priorities; some nodes publish 16 bytes, some subscribe.
//
// One sample is the CPU time that a thread spent from the end of a callback to the begin of the
// next one that it runs. That is the executor's choosing, taking of messages and going to sleep,
// without the sleep, and it means the same for one thread with a wait set and for many without one.
#include <atomic>
#include <cmath>
#include <ctime>
#include <numeric>
#include <std_msgs/msg/color_rgba.hpp>
#include <takt/os/clock.hpp>
#include <takt/rcl/node.hpp>
#include <utility>

#include "application.hpp"

namespace takt::bench {
namespace {

using Message16 = std_msgs::msg::ColorRGBA;

std::int64_t thread_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// Room for all samples of a run; further ones are not kept.
class Samples {
 public:
  explicit Samples(std::size_t capacity) : values_(capacity) {}

  void add(std::int64_t value) noexcept {
    const std::size_t place = next_.fetch_add(1, std::memory_order_relaxed);
    if (place < values_.size()) {
      values_[place] = value;
    }
  }
  void restart() noexcept { next_.store(0); }

  [[nodiscard]] std::vector<std::int64_t> ascending() const {
    std::vector<std::int64_t> result{
        values_.begin(),
        values_.begin() + static_cast<std::ptrdiff_t>(std::min(next_.load(), values_.size()))};
    std::ranges::sort(result);
    return result;
  }

 private:
  std::vector<std::int64_t> values_;
  std::atomic<std::size_t> next_{0};
};

// The frame of every callback.
class Measured {
 public:
  explicit Measured(Samples& samples) noexcept {
    const std::int64_t begin = thread_cpu_ns();
    if (last_end >= 0) {
      samples.add(begin - last_end);
    }
  }
  ~Measured() { last_end = thread_cpu_ns(); }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;
  Measured(Measured&&) = delete;
  Measured& operator=(Measured&&) = delete;

 private:
  inline static thread_local std::int64_t last_end = -1;
};

// CPU time, so that what preempts does not count.
void compute_for(nanoseconds time) noexcept {
  const std::int64_t end = thread_cpu_ns() + time.count();
  while (thread_cpu_ns() < end) {
  }
}

Json figures(const std::vector<std::int64_t>& ascending) {
  const double count = static_cast<double>(std::max<std::size_t>(ascending.size(), 1));
  const double mean =
      static_cast<double>(std::accumulate(ascending.begin(), ascending.end(), std::int64_t{0})) /
      count;
  double squares = 0;
  for (const std::int64_t value : ascending) {
    squares += std::pow(static_cast<double>(value) - mean, 2);
  }
  const auto at_us = [&](double p) { return static_cast<double>(quantile(ascending, p)) / 1000; };
  return {{"samples", ascending.size()}, {"min_us", at_us(0)},
          {"q1_us", at_us(0.25)},        {"median_us", at_us(0.5)},
          {"q3_us", at_us(0.75)},        {"max_us", at_us(1)},
          {"mean_us", mean / 1000},      {"sd_us", std::sqrt(squares / count) / 1000}};
}

}  // namespace

void overhead(const Settings& settings) {
  constexpr double utilization = 0.5;
  constexpr int slowest_priority = 40;
  stay_on(settings.cpu);
  const Context context{ContextOptions{.use_intra_process = false}};
  Samples samples{1'000'000};
  std::vector<int> periods = settings.periods_ms;
  std::ranges::sort(periods, std::greater<>{});
  const auto share = [&](double of) {
    return static_cast<int>(std::lround(of * static_cast<double>(settings.nodes)));
  };
  const int publishing = share(settings.publishers);
  const int subscribing = publishing == 0 ? 0 : share(settings.subscribers);

  std::vector<Member> members;
  std::vector<std::shared_ptr<PublisherBase>> heard;
  for (int i = 0; i < settings.nodes; ++i) {
    const Node node{context, "node" + std::to_string(i)};
    const std::size_t rank = static_cast<std::size_t>(i) % periods.size();
    const nanoseconds period = periods[rank] * 1ms;
    const nanoseconds work{static_cast<std::int64_t>(utilization / settings.nodes *
                                                     static_cast<double>(period.count()))};
    std::shared_ptr<Publisher<Message16>> publisher;
    if (i < publishing) {
      publisher = node.create_publisher<Message16>("topic" + std::to_string(i), QoS{1});
      if (subscribing > 0) {
        heard.push_back(publisher);
      }
    }
    Member member{.node = node,
                  .timer = node.create_timer(period,
                                             [&samples, publisher, work] {
                                               const Measured measured{samples};
                                               compute_for(work);
                                               if (publisher != nullptr) {
                                                 static_cast<void>(publisher->publish(Message16{}));
                                               }
                                             }),
                  .reads = true,
                  .priority = slowest_priority + static_cast<int>(rank)};
    // The last nodes subscribe, each to another topic than its own.
    if (i >= settings.nodes - subscribing) {
      const int topic = (i + 1) % publishing;
      member.subscription = node.create_subscription<Message16>(
          "topic" + std::to_string(topic), QoS{1},
          [&samples](const Message16&) { const Measured measured{samples}; });
    }
    members.push_back(std::move(member));
  }
  // With fewer subscribers than topics some are heard by nobody.
  if (std::cmp_less_equal(heard.size(), subscribing)) {
    wait_for_readers(heard);
  }

  const auto application = make_application(settings, context, std::move(members));
  application->start();
  os::sleep_until(os::now() + 200ms);
  samples.restart();
  os::sleep_until(os::now() + settings.duration);
  application->stop();
  print_document(settings, figures(samples.ascending()));
}

}  // namespace takt::bench
