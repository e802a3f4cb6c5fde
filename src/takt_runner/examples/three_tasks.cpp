// SPDX-License-Identifier: Apache-2.0
//
// Three tasks: 1 produces data, 3 computes on it, 2 matters less than 3. A wait-set executor runs
// the timers as they were registered and delivers afterwards, so task 3 computes on old data (the
// thesis's Fig. 2.4). Takt runs 3 before 2, on the data of this cycle (Fig. 2.5). The orders
// printed are those of the traces. Usage: three_tasks [folder that keeps the two traces]
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <takt/baseline/single_threaded_executor.hpp>
#include <takt/os/clock.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/trace/reader.hpp>
#include <takt_interfaces/msg/sample.hpp>

using namespace std::chrono_literals;
using Data = takt_interfaces::msg::Sample;

namespace {

constexpr std::uint64_t cycles = 5;

void compute_for(std::chrono::nanoseconds time) {
  const auto end = takt::os::now() + time;
  while (takt::os::now() < end) {
  }
}

// The same application for both executors.
struct Application {
  explicit Application(bool intra_process) : context{{.use_intra_process = intra_process}} {}

  takt::Context context;
  takt::Node node1{context, "task1"}, node2{context, "task2"}, node3{context, "task3"};
  std::uint64_t produced{0}, received{0}, computed{0}, on_old_data{0};
  std::function<void()> end;

  std::shared_ptr<takt::Publisher<Data>> out = node1.create_publisher<Data>("data", takt::QoS{1});
  std::shared_ptr<takt::Timer> produce = node1.create_timer(100ms, [this] {
    compute_for(5ms);
    Data data;
    data.sequence = ++produced;
    out->publish(data);
  });
  std::shared_ptr<takt::Timer> log = node2.create_timer(100ms, [] { compute_for(5ms); });
  std::shared_ptr<takt::Subscription<Data>> in = node3.create_subscription<Data>(
      "data", takt::QoS{1}, [this](const Data& data) { received = data.sequence; });
  std::shared_ptr<takt::Timer> compute = node3.create_timer(100ms, [this] {
    compute_for(5ms);
    if (received < produced) {
      ++on_old_data;
    }
    if (++computed == cycles) {
      end();
    }
  });
};

// Starts and deliveries from the second start of task 1 to the third: one cycle in the middle.
std::string order_of_second_cycle(const std::filesystem::path& file) {
  const takt::trace::Trace trace = takt::trace::read_trace(file);
  std::string order;
  int cycle = 0;
  for (const takt::trace::Event& event : trace.events) {
    using takt::trace::EventType;
    if (event.type != EventType::start && event.type != EventType::deliver) {
      continue;
    }
    const std::string node = trace.tasks.at(event.task).substr(0, 5);
    const bool starts = event.type == EventType::start;
    if (starts && event.task == takt::trace::no_task) {
      continue;
    }
    if (starts && node == "task1") {
      ++cycle;
    }
    const bool is_delivery_task = !trace.tasks.at(event.task).ends_with("timer1");
    if (cycle == 2 && (!starts || !is_delivery_task)) {
      order += starts ? " " + node : " (data)";
    }
  }
  return order;
}

void report(const char* name, const Application& application, const std::filesystem::path& file) {
  const char* data = "on the data of its cycle";
  if (application.on_old_data > 0) {
    data = application.on_old_data == cycles ? "on old data, each time" : "on old data, sometimes";
  }
  std::printf("%-9s:%s; task3 computed %s\n", name, order_of_second_cycle(file).c_str(), data);
}

}  // namespace

int main(int argc, char** argv) try {
  const bool keep = argc > 1;
  const std::filesystem::path folder =
      keep ? std::filesystem::path{argv[1]}
           : std::filesystem::temp_directory_path() /
                 ("three_tasks_" + std::to_string(takt::os::now().time_since_epoch().count()));
  std::filesystem::create_directories(folder);
  {
    const auto file = folder / "baseline0.takttrace";
    Application application{false};
    takt::baseline::SingleThreadedExecutor executor{application.context, {.trace = file}};
    application.end = [&] { executor.request_stop(); };
    executor.add_node(application.node1);
    executor.add_node(application.node2);
    executor.add_node(application.node3);
    executor.spin();
    report("baseline0", application, file);
  }
  {
    const auto file = folder / "takt.takttrace";
    Application application{true};
    takt::SchedulingExecutor executor{{.policy = takt::fixed_priority(), .trace = file}};
    application.end = [&] { executor.request_stop(); };
    executor.add(application.produce, {.priority = 90, .writes = {application.out}});
    executor.add(application.log, {.priority = 70});
    executor.add(application.compute, {.priority = 80, .reads = {application.in}});
    executor.spin();
    report("Takt", application, file);
  }
  if (!keep) {
    std::filesystem::remove_all(folder);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "three_tasks: %s\n", error.what());
  return 1;
}
