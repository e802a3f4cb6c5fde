// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <stdexcept>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/diagnostics.hpp>
#include <utility>
#include <vector>

namespace takt {
namespace {

using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;
using std::chrono::nanoseconds;

void add(DiagnosticStatus& status, std::string key, std::string value) {
  auto& pair = status.values.emplace_back();
  pair.key = std::move(key);
  pair.value = std::move(value);
}

std::string microseconds(nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(time.count()) / 1000);
  return text.data();
}

// "3 deadlines missed, 1 release skipped" of what went wrong since the last report.
class Complaint {
 public:
  void add(std::uint64_t count, std::uint64_t before, const char* one, const char* many,
           unsigned char level) {
    if (count == before) {
      return;
    }
    const std::uint64_t times = count - before;
    text_ += (text_.empty() ? "" : ", ") + std::to_string(times) + " " + (times == 1 ? one : many);
    level_ = std::max(level_, level);
  }
  void write(DiagnosticStatus& status) {
    status.level = level_;
    status.message = text_.empty() ? "in time" : text_;
  }

 private:
  std::string text_;
  unsigned char level_{DiagnosticStatus::OK};
};

void describe(const TaskStatistics& now, const TaskStatistics& before, DiagnosticStatus& status) {
  Complaint complaint;
  complaint.add(now.deadline_misses, before.deadline_misses, "deadline missed", "deadlines missed",
                DiagnosticStatus::ERROR);
  complaint.add(now.age_violations, before.age_violations, "time on data that was too old",
                "times on data that was too old", DiagnosticStatus::ERROR);
  complaint.add(now.skipped, before.skipped, "release skipped", "releases skipped",
                DiagnosticStatus::WARN);
  complaint.add(now.lost_arrivals, before.lost_arrivals, "message lost", "messages lost",
                DiagnosticStatus::WARN);
  complaint.add(now.budget_overruns, before.budget_overruns, "budget overrun", "budgets overrun",
                DiagnosticStatus::WARN);
  complaint.write(status);
  using Count = std::pair<const char*, std::uint64_t>;
  const std::array counts{Count{"releases", now.releases},
                          Count{"completed", now.completed},
                          Count{"skipped", now.skipped},
                          Count{"lost_arrivals", now.lost_arrivals},
                          Count{"early_releases", now.early_releases},
                          Count{"deadline_misses", now.deadline_misses},
                          Count{"budget_overruns", now.budget_overruns},
                          Count{"age_violations", now.age_violations},
                          Count{"delivered", now.delivered}};
  for (const auto& [key, value] : counts) {
    add(status, key, std::to_string(value));
  }
  add(status, "worst_response_us", microseconds(now.worst_response));
  add(status, "worst_lateness_us", microseconds(now.worst_lateness));
  add(status, "worst_age_us", microseconds(now.worst_age));
  add(status, "worst_cpu_time_us", microseconds(now.worst_cpu_time));
}

}  // namespace

class Diagnostics::Implementation {
 public:
  Implementation(const Node& node, SchedulingExecutor& executor, nanoseconds period)
      : name_{node.get_fully_qualified_name()},
        executor_{executor},
        publisher_{node.create_publisher<DiagnosticArray>("/diagnostics", QoS{10})},
        thread_{{.policy = os::SchedulingPolicy::other, .name = "takt.diag"},
                [this, period] { run(period); }} {}
  ~Implementation() {
    stop_.request();
    thread_.join();
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  Implementation(Implementation&&) = delete;
  Implementation& operator=(Implementation&&) = delete;

 private:
  // A task as it was in the last report.
  struct Former {
    std::string name;
    TaskStatistics statistics;
  };

  void run(nanoseconds period) {
    os::TimePoint next = os::now();
    do {
      report();
      next = std::max(next + period, os::now());
    } while (!stop_.wait_until(next));
    report();
  }

  void report() {
    DiagnosticArray array;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
    array.header.stamp.sec = static_cast<std::int32_t>(seconds.count());
    array.header.stamp.nanosec =
        static_cast<std::uint32_t>(std::chrono::duration_cast<nanoseconds>(now - seconds).count());
    const std::vector<NamedTask> tasks = executor_.tasks();
    former_.resize(tasks.empty() ? 0 : tasks.back().index + 1);
    array.status.reserve(tasks.size() + 1);
    describe_executor(tasks.size(), status_of("executor", array));
    for (const NamedTask& task : tasks) {
      const TaskStatistics statistics = executor_.core().statistics(task.index);
      Former& former = former_[task.index];
      // Another task in the place of a removed one has counted from zero.
      const bool same =
          former.name == task.name && former.statistics.releases <= statistics.releases;
      describe(statistics, same ? former.statistics : TaskStatistics{},
               status_of(task.name, array));
      former = {.name = task.name, .statistics = statistics};
    }
    // A report that cannot be sent is followed by the next one.
    static_cast<void>(publisher_->publish(array));
  }

  DiagnosticStatus& status_of(const std::string& what, DiagnosticArray& array) const {
    DiagnosticStatus& status = array.status.emplace_back();
    status.name = name_ + ": " + what;
    status.hardware_id = "takt";
    return status;
  }

  void describe_executor(std::size_t tasks, DiagnosticStatus& status) const {
    const os::Shortfalls& shortfalls = executor_.core().shortfalls();
    const std::uint64_t lost = executor_.core().lost_trace_events();
    status.message = shortfalls.empty() ? "" : "without all real-time settings";
    if (lost > 0) {
      status.message += (status.message.empty() ? "" : ", ") + std::string{"trace events lost"};
    }
    status.level = status.message.empty() ? DiagnosticStatus::OK : DiagnosticStatus::WARN;
    if (status.message.empty()) {
      status.message = "running";
    }
    add(status, "tasks", std::to_string(tasks));
    add(status, "scenario", std::string{executor_.scenario()});
    add(status, "lost_trace_events", std::to_string(lost));
    for (const os::Shortfall& shortfall : shortfalls) {
      add(status, "shortfall", shortfall.what + ": " + shortfall.why);
    }
  }

  std::string name_;
  SchedulingExecutor& executor_;
  std::shared_ptr<Publisher<DiagnosticArray>> publisher_;
  std::vector<Former> former_;  // by index
  os::StopFlag stop_;
  os::Thread thread_;  // last: it uses all of the above
};

Diagnostics::Diagnostics(const Node& node, SchedulingExecutor& executor,
                         const DiagnosticsOptions& options) {
  if (options.period.count() <= 0) {
    throw std::invalid_argument{"the period of diagnostics must be above zero"};
  }
  if (executor.core().start_time() == os::TimePoint{}) {
    throw std::logic_error{"diagnostics of an executor that has not been started; call start()"};
  }
  implementation_ = std::make_unique<Implementation>(node, executor, options.period);
}

Diagnostics::~Diagnostics() = default;

}  // namespace takt
