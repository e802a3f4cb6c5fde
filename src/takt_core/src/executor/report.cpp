// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

#include "takt/os/saturating.hpp"

namespace takt::executor {
namespace {

std::string microseconds(nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", static_cast<double>(time.count()) / 1000);
  return text.data();
}

// "3 deadlines missed, 1 release skipped" of what went wrong since the last report.
class Complaint {
 public:
  void add(std::uint64_t count, std::uint64_t before, const char* one, const char* many,
           StatusLevel level) {
    if (count == before) {
      return;
    }
    const std::uint64_t times = count - before;
    text_ += (text_.empty() ? "" : ", ") + std::to_string(times) + " " + (times == 1 ? one : many);
    level_ = std::max(level_, level);
  }
  void write(Status& status) {
    status.level = level_;
    status.message = text_.empty() ? "in time" : text_;
  }

 private:
  std::string text_;
  StatusLevel level_ = StatusLevel::ok;
};

Status describe(const Snapshot::Task& task, const TaskStatistics& before) {
  const TaskStatistics& now = task.statistics;
  Status status{.name = task.name, .message = {}};
  Complaint complaint;
  complaint.add(now.deadline_misses, before.deadline_misses, "deadline missed", "deadlines missed",
                StatusLevel::error);
  complaint.add(now.age_violations, before.age_violations, "time on data that was too old",
                "times on data that was too old", StatusLevel::error);
  complaint.add(now.skipped, before.skipped, "release skipped", "releases skipped",
                StatusLevel::warn);
  complaint.add(now.lost_arrivals, before.lost_arrivals, "message lost", "messages lost",
                StatusLevel::warn);
  complaint.add(now.budget_overruns, before.budget_overruns, "budget overrun", "budgets overrun",
                StatusLevel::warn);
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
    status.values.emplace_back(key, std::to_string(value));
  }
  status.values.emplace_back("worst_response_us", microseconds(now.worst_response));
  status.values.emplace_back("worst_lateness_us", microseconds(now.worst_lateness));
  status.values.emplace_back("worst_age_us", microseconds(now.worst_age));
  status.values.emplace_back("worst_cpu_time_us", microseconds(now.worst_cpu_time));
  return status;
}

Status describe(const Snapshot& now) {
  Status status{.name = "executor", .message = {}};
  status.message = now.not_granted.empty() ? "" : "without all real-time settings";
  if (now.lost_trace_events > 0) {
    status.message += (status.message.empty() ? "" : ", ") + std::string{"trace events lost"};
  }
  status.level = status.message.empty() ? StatusLevel::ok : StatusLevel::warn;
  if (status.message.empty()) {
    status.message = "running";
  }
  status.values.emplace_back("tasks", std::to_string(now.tasks.size()));
  status.values.emplace_back("scenario", now.scenario);
  status.values.emplace_back("lost_trace_events", std::to_string(now.lost_trace_events));
  for (const os::NotGranted& refused_setting : now.not_granted) {
    status.values.emplace_back("not_granted", refused_setting.what + ": " + refused_setting.why);
  }
  return status;
}

const char* text(Quantity quantity) {
  switch (quantity) {
    case Quantity::response:
      return "response";
    case Quantity::skipped:
      return "skipped";
    case Quantity::dropped:
      return "dropped";
    case Quantity::age:
      return "age";
    case Quantity::latency:
      return "latency";
  }
  return "";
}

std::string name_of(const LimitStatistics& limit) {
  return "limit: " + limit.subject + " " + text(limit.quantity) +
         (limit.topic.empty() ? "" : " of " + limit.topic);
}

// `silent`: no data arrived although the chain began.
Status describe(const LimitStatistics& now, const LimitStatistics& before, bool silent) {
  Status status{.name = name_of(now), .message = "in order"};
  const std::uint64_t exceeded = now.exceeded - before.exceeded;
  if (exceeded > 0) {
    status.level = now.holds() ? StatusLevel::warn : StatusLevel::error;
    status.message = std::to_string(exceeded) + " of " +
                     std::to_string(now.checked - before.checked) + " exceeded the limit" +
                     (now.holds() ? ", which allows it" : "");
  } else if (silent) {
    status.level = StatusLevel::error;
    status.message = "no data arrived";
  }
  status.values = {{"subject", now.subject},
                   {"quantity", text(now.quantity)},
                   {"topic", now.topic},
                   {"limit_us", microseconds(now.limit)},
                   {"allowed", std::to_string(now.allowed)},
                   {"checked", std::to_string(now.checked)},
                   {"exceeded", std::to_string(now.exceeded)},
                   {"worst_us", microseconds(now.worst)}};
  return status;
}

os::ThreadSettings settings_for(nanoseconds period) {
  if (period.count() <= 0) {
    throw std::invalid_argument{"the period of diagnostics must be above zero"};
  }
  return {.policy = os::SchedulingPolicy::other, .name = "takt.diag"};
}

}  // namespace

Snapshot snapshot(const Executor& executor, std::vector<NamedTask> tasks) {
  Snapshot now{.tasks = {},
               .limits = executor.limits(),
               .scenario = std::string{executor.scenario()},
               .lost_trace_events = executor.lost_trace_events(),
               .not_granted = executor.not_granted()};
  now.tasks.reserve(tasks.size());
  for (NamedTask& task : tasks) {
    now.tasks.push_back(
        {.name = std::move(task.name), .statistics = executor.statistics(task.index)});
  }
  return now;
}

std::vector<Status> Reporter::report(const Snapshot& now) {
  std::vector<Status> report;
  report.reserve(now.tasks.size() + now.limits.size() + 1);
  report.push_back(describe(now));
  std::map<std::string, TaskStatistics> reported;
  for (const Snapshot::Task& task : now.tasks) {
    const auto former = former_.find(task.name);
    // Another task in the place of a removed one has counted from zero.
    const bool same =
        former != former_.end() && former->second.releases <= task.statistics.releases;
    report.push_back(describe(task, same ? former->second : TaskStatistics{}));
    reported.emplace(task.name, task.statistics);
  }
  former_ = std::move(reported);
  for (const LimitStatistics& limit : now.limits) {
    Seen& former = former_limits_[name_of(limit)];
    const LimitStatistics& before = former.statistics;
    const bool without_arrival = limit.begun > before.begun && limit.checked == before.checked;
    report.push_back(describe(limit, before, without_arrival && former.without_arrival));
    former = {.statistics = limit, .without_arrival = without_arrival};
  }
  return report;
}

Reports::Reports(nanoseconds period, std::function<void()> publish)
    : thread_{settings_for(period), [this, period, publish = std::move(publish)] {
                os::TimePoint next = os::now();
                do {
                  publish();
                  next = std::max(os::add_sat(next, period), os::now());
                } while (!stop_.wait_until(next));
                publish();
              }} {}

Reports::~Reports() {
  stop_.request();
  thread_.join();
}

}  // namespace takt::executor
