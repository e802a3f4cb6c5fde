// SPDX-License-Identifier: Apache-2.0
//
// What one of rclcpp's executors did with a small application: each job with its thread, and when
// what releases it came.
#pragma once

#include <rcl/timer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/int32.hpp>
#include <string>
#include <utility>
#include <vector>

#include "drawn.hpp"
#include "support.hpp"
#include "takt/rclcpp/any_executor.hpp"

namespace takt::test {

using os::TimePoint;

struct RecordedJob {
  std::size_t callback = 0;
  int thread = 0;
  TimePoint release;  // of a timer: when rclcpp wanted to call it
  TimePoint start;
  TimePoint computed;   // from here on it publishes
  TimePoint published;  // its end
};

// When a message came: after its publisher had computed, and about when it had published.
struct Arrival {
  TimePoint earliest;
  TimePoint latest;
};

struct Recording {
  std::vector<Drawn> callbacks;
  TimePoint begin;
  TimePoint end;                                        // what starts later was not watched
  std::vector<RecordedJob> jobs;                        // by start
  std::vector<std::vector<Arrival>> from_outside = {};  // by callback that hears another process

  // Whether a callback ran twice at once.
  [[nodiscard]] bool overlaps() const {
    std::vector<TimePoint> ends(callbacks.size());
    return std::ranges::any_of(jobs, [&](const RecordedJob& job) {
      return std::exchange(ends[job.callback], job.published) > job.start;
    });
  }

  // A time of each job of the callback, ascending: the jobs of a reentrant one need not publish in
  // the order in which they began.
  [[nodiscard]] std::vector<TimePoint> sorted(std::size_t callback,
                                              TimePoint RecordedJob::*time) const {
    std::vector<TimePoint> times;
    for (const RecordedJob& job : jobs) {
      if (job.callback == callback) {
        times.push_back(job.*time);
      }
    }
    std::ranges::sort(times);
    return times;
  }

  [[nodiscard]] std::vector<std::size_t> jobs_of(std::size_t callback) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].callback == callback) {
        found.push_back(i);
      }
    }
    return found;
  }
};

// The node of a drawn application in one of its processes, whose callbacks note what they do.
class Recorder {
 public:
  // `name`: of the application, the same in all of its processes.
  explicit Recorder(std::vector<Drawn> callbacks, std::string name = unique("drawn"),
                    std::size_t process = 0)
      : callbacks_(std::move(callbacks)), name_(std::move(name)), process_(process) {
    node_ = std::make_shared<rclcpp::Node>("drawn", rclcpp::NodeOptions{}
                                                        .start_parameter_services(false)
                                                        .start_parameter_event_publisher(false)
                                                        .enable_rosout(false));
    publishers_.resize(callbacks_.size());
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (callbacks_[i].process == process_) {
        publishers_[i] = node_->create_publisher<Message>(topic(i), rclcpp::QoS{depth});
      }
    }
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (callbacks_[i].process == process_) {
        add(i);
      }
    }
  }

  // Whether each publisher knows its subscriptions, also those in other processes, and each client
  // its service.
  [[nodiscard]] bool is_heard() const {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      const auto hearers =
          static_cast<std::size_t>(std::ranges::count_if(callbacks_, [&](const Drawn& one) {
            return one.kind() == Kind::subscription && one.trigger == i;
          }));
      if (publishers_[i] && publishers_[i]->get_subscription_count() != hearers) {
        return false;
      }
    }
    return std::ranges::all_of(
        clients_, [](const auto& client) { return client.second->service_is_ready(); });
  }

  // With its threads on two CPUs, in real time where that is granted. `begin`: now if it is not
  // given.
  Recording run(const std::string& executor_name, std::size_t threads, nanoseconds duration,
                TimePoint begin = {}) {
    const auto executor = takt_rclcpp::make_executor(executor_name, {}, threads);
    executor->add_node(node_);
    Recording recording;
    recording.callbacks = callbacks_;
    {
      os::Thread spinning{{.policy = os::SchedulingPolicy::fifo, .priority = 40},
                          [&] { executor->spin(); }};
      os::sleep_until(os::now() + 2ms);
      recording.begin = std::max(begin, os::now() + 2ms);
      begin_at(recording.begin);
      recording.end = recording.begin + duration;
      os::sleep_until(recording.end + 2ms);
      executor->cancel();
    }
    const std::size_t count = std::min(taken_.load(), jobs_.size());
    recording.jobs.assign(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(recording.jobs, {}, &RecordedJob::start);
    return recording;
  }

 private:
  using Message = std_msgs::msg::Int32;
  using Service = rcl_interfaces::srv::ListParameters;  // one that is always there
  static constexpr std::size_t depth = 100;
  static constexpr std::size_t most_jobs = 2000;

  [[nodiscard]] std::string topic(std::size_t callback) const {
    return name_ + "_" + std::to_string(callback);
  }

  // Made in a group of its own unless it shares one.
  rclcpp::CallbackGroup::SharedPtr group_of(const Drawn& drawn) {
    using Type = rclcpp::CallbackGroupType;
    auto& shared = drawn.reentrant ? reentrant_ : groups_[drawn.group];
    if (!shared || (!drawn.reentrant && drawn.group == 0)) {
      shared =
          node_->create_callback_group(drawn.reentrant ? Type::Reentrant : Type::MutuallyExclusive);
      all_.push_back(shared);
    }
    return shared;
  }

  void add(std::size_t callback) {
    const Drawn& drawn = callbacks_[callback];
    const auto group = group_of(drawn);
    if (drawn.is_timer()) {
      timers_.push_back(node_->create_wall_timer(
          drawn.period,
          [this, callback](const rclcpp::TimerInfo& info) {
            run_job(callback, TimePoint{nanoseconds{info.expected_call_time.nanoseconds()}});
          },
          group));
      timers_.back()->cancel();  // until begin_at()
      return;
    }
    if (drawn.kind() == Kind::service) {
      services_.push_back(node_->create_service<Service>(
          topic(callback),
          [this, callback](const Service::Request::ConstSharedPtr&,
                           const Service::Response::SharedPtr&) { run_job(callback, {}); },
          rclcpp::ServicesQoS{}.keep_last(depth), group));
      return;
    }
    if (drawn.kind() == Kind::client) {
      clients_[callback] = node_->create_client<Service>(
          topic(drawn.trigger), rclcpp::ServicesQoS{}.keep_last(depth), group);
      return;
    }
    rclcpp::SubscriptionOptions options;
    options.callback_group = group;
    subscriptions_.push_back(node_->create_subscription<Message>(
        topic(drawn.trigger), rclcpp::QoS{depth},
        [this, callback](Message::ConstSharedPtr) { run_job(callback, {}); }, options));
  }

  void run_job(std::size_t callback, TimePoint release) {
    const TimePoint start = os::now();
    static std::atomic<int> threads{0};
    thread_local const int thread = threads++;
    const std::size_t place = taken_++;
    const TimePoint computed_at = start + callbacks_[callback].execution;
    if (has_one_process()) {
      while (os::now() < computed_at) {
      }
    } else {
      os::sleep_until(computed_at);  // there are not enough CPUs for the threads of all processes
    }
    const TimePoint computed = os::now();
    publishers_[callback]->publish(Message{});
    for (const auto& [response, client] : clients_) {
      if (callbacks_[callbacks_[response].trigger].trigger == callback) {
        client->async_send_request(
            std::make_shared<Service::Request>(),
            [this, own = response](rclcpp::Client<Service>::SharedFuture) { run_job(own, {}); });
      }
    }
    if (place < jobs_.size()) {
      jobs_[place] = {.callback = callback,
                      .thread = thread,
                      .release = release,
                      .start = start,
                      .computed = computed,
                      .published = os::now()};
    }
  }

  [[nodiscard]] bool has_one_process() const {
    return std::ranges::all_of(callbacks_, [](const Drawn& one) { return one.process == 0; });
  }

  // rcl counts from the reset of a timer, for one period; a period of another length for that
  // moment puts the first call where it is wanted.
  void begin_at(TimePoint begin) {
    std::size_t number = 0;
    for (const Drawn& drawn : callbacks_) {
      if (!drawn.is_timer() || drawn.process != process_) {
        continue;
      }
      const auto& timer = timers_[number++];
      auto* const handle = timer->get_timer_handle().get();
      std::int64_t period = 0;
      const nanoseconds until = begin + drawn.offset - os::now();
      ASSERT_EQ(
          rcl_timer_exchange_period(handle, std::max<std::int64_t>(until.count(), 0), &period),
          RCL_RET_OK);
      timer->reset();
      std::int64_t unused = 0;
      ASSERT_EQ(rcl_timer_exchange_period(handle, period, &unused), RCL_RET_OK);
    }
  }

  std::vector<Drawn> callbacks_;  // of all processes
  std::string name_;
  std::size_t process_;
  rclcpp::Node::SharedPtr node_;
  std::array<rclcpp::CallbackGroup::SharedPtr, 3> groups_;
  rclcpp::CallbackGroup::SharedPtr reentrant_;
  std::vector<rclcpp::CallbackGroup::SharedPtr> all_;
  std::vector<rclcpp::Publisher<Message>::SharedPtr> publishers_;      // by callback
  std::map<std::size_t, rclcpp::Client<Service>::SharedPtr> clients_;  // by callback
  std::vector<rclcpp::Service<Service>::SharedPtr> services_;
  std::vector<rclcpp::Subscription<Message>::SharedPtr> subscriptions_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
  std::vector<RecordedJob> jobs_ = std::vector<RecordedJob>(most_jobs);
  std::atomic<std::size_t> taken_{0};
};

}  // namespace takt::test
