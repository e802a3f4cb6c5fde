// SPDX-License-Identifier: Apache-2.0
//
// What one message takes from the callback that writes it and from the one that reads it, as
// analysis and simulation want it (application::Overheads): publish() of a message by reference,
// with one reader in the process, and delivering it before a callback.
#include <takt/os/clock.hpp>
#include <takt/rcl/node.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

constexpr nanoseconds period = 2ms;

class Costs {
 public:
  explicit Costs(nanoseconds duration) {
    values_.reserve(static_cast<std::size_t>(duration / period) + 1000);
  }
  void add(nanoseconds value) {
    if (values_.size() < values_.capacity()) {
      values_.push_back(value.count());
    }
  }
  [[nodiscard]] Json figures(const std::string& name) {
    std::ranges::sort(values_);
    return {{name + "_p50_ns", quantile(values_, 0.5)},
            {name + "_p99_ns", quantile(values_, 0.99)}};
  }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace

void messages(const Settings& settings) {
  using Message = takt_interfaces::msg::Sample;
  constexpr int priority = 40;
  constexpr std::uint64_t cold = 20;
  stay_on(settings.cpu);
  const Context context;
  const Node node{context, "messages"};
  const auto announced = node.create_publisher<Message>("announced", QoS{1});
  const auto delivered = node.create_publisher<Message>("delivered", QoS{1});
  const auto listener =
      node.create_subscription<Message>("announced", QoS{1}, [](const Message&) {});
  const auto read = node.create_subscription<Message>("delivered", QoS{1}, [](const Message&) {});
  Message message;
  message.payload.resize(settings.payload);
  Costs publishing{settings.duration};
  Costs delivering{settings.duration};
  const auto timer = node.create_timer(period, [&](const Job& job) {
    const os::TimePoint begin = os::now();
    static_cast<void>(announced->publish(message));
    const os::TimePoint published = os::now();
    static_cast<void>(delivered->publish(message));
    const os::TimePoint waits = os::now();
    static_cast<void>(read->deliver_pending());
    const os::TimePoint end = os::now();
    if (job.index < cold) {
      return;
    }
    publishing.add(published - begin);
    delivering.add(end - waits);
  });
  SchedulingExecutor executor{
      {.policy = fixed_priority(), .cpus = {settings.cpu}, .on_not_granted = note_not_granted}};
  executor.add(timer, {.priority = priority});
  executor.add(listener, {.priority = priority});  // runs after it: publish() is not preempted
  executor.start();
  os::sleep_until(os::now() + settings.duration);
  executor.stop();
  Json figures = publishing.figures("publish");
  figures.update(delivering.figures("deliver"));
  print_document(settings, figures);
}

}  // namespace takt::bench
