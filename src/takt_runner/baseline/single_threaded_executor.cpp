// SPDX-License-Identifier: Apache-2.0
#include <rcl/error_handling.h>
#include <rcl/guard_condition.h>
#include <rcl/timer.h>
#include <rcl/wait.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <takt/baseline/single_threaded_executor.hpp>
#include <takt/os/event.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/error.hpp>
#include <takt/trace/current.hpp>
#include <takt/trace/tracer.hpp>
#include <utility>

namespace takt::baseline {
namespace {

using trace::EventType;

void check(rcl_ret_t code, const char* operation, const std::string& where) {
  if (code == RCL_RET_OK) {
    return;
  }
  std::string reason = rcl_get_error_string().str;
  rcl_reset_error();
  throw RclError{code, operation, where, std::move(reason)};
}

// For what happens while something ends: nobody could do anything about it.
void forget(rcl_ret_t code) noexcept {
  if (code != RCL_RET_OK) {
    rcl_reset_error();
  }
}

std::int64_t thread_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// One callback, with what its trace needs.
struct Task {
  CallbackOptions options;
  std::uint16_t index{0};
  std::uint64_t jobs{0};  // releases so far
};

struct TimerTask : Task {
  std::shared_ptr<Timer> timer;
  rcl_timer_t handle{rcl_get_zero_initialized_timer()};
  os::TimePoint intended;  // release of the last job
};

struct SubscriptionTask : Task {
  std::shared_ptr<SubscriptionBase> subscription;
  std::uint16_t topic{trace::no_topic};
};

}  // namespace

class SingleThreadedExecutor::Implementation {
 public:
  Implementation(Context used, const Options& options) : context{std::move(used)} {
    rcl_context_t* const rcl_context = context.get_rcl_context();
    check(rcl_clock_init(RCL_STEADY_TIME, &clock_, &allocator_), "cannot create a clock",
          "baseline0");
    try {
      check(
          rcl_guard_condition_init(&wake_, rcl_context, rcl_guard_condition_get_default_options()),
          "cannot create a guard condition", "baseline0");
      if (!options.trace.empty()) {
        tracer_ = std::make_unique<trace::Tracer>(
            options.trace, trace::TracerOptions{.ring_capacity = options.trace_capacity});
        tracer_->writer().attribute("policy", "baseline0");
        for (const auto& [key, value] : options.trace_attributes) {
          tracer_->writer().attribute(key, value);
        }
      }
    } catch (...) {
      close();
      throw;
    }
  }
  ~Implementation() { close(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  Implementation(Implementation&&) = delete;
  Implementation& operator=(Implementation&&) = delete;

  void add(const std::shared_ptr<Timer>& timer, const CallbackOptions& options) {
    TimerTask& task = timers_.emplace_back();
    task.timer = timer;
    task.options = options;
    const rcl_ret_t code = rcl_timer_init2(&task.handle, &clock_, context.get_rcl_context(),
                                           timer->get_period().count(), nullptr, allocator_, true);
    if (code != RCL_RET_OK) {
      timers_.pop_back();
    }
    check(code, "cannot create a timer", timer->get_name());
    name(task, timer->get_name());
  }

  // rcl counts from the reset of a timer, for one period; a period of another length for that
  // moment puts the first call where it is wanted.
  void begin_at(os::TimePoint start) {
    for (TimerTask& task : timers_) {
      std::int64_t period = 0;
      const auto until = start + task.options.offset - os::now();
      const std::string& where = task.timer->get_name();
      check(rcl_timer_exchange_period(&task.handle, std::max<std::int64_t>(until.count(), 0),
                                      &period),
            "cannot set a timer", where);
      check(rcl_timer_reset(&task.handle), "cannot reset a timer", where);
      check(rcl_timer_exchange_period(&task.handle, task.timer->get_period().count(), &period),
            "cannot set a timer", where);
    }
  }

  std::uint16_t trace_topic(const std::string& topic) {
    const auto [entry, is_new] =
        topics_.try_emplace(topic, static_cast<std::uint16_t>(topics_.size()));
    if (is_new && tracer_) {
      tracer_->writer().name(trace::NameKind::topic, entry->second, entry->first);
    }
    return entry->second;
  }

  trace::Recorder add_trace_thread() { return tracer_ ? tracer_->add_thread() : trace::Recorder{}; }

  void add(const std::shared_ptr<SubscriptionBase>& subscription, const CallbackOptions& options) {
    if (subscription->uses_intra_process()) {
      throw std::logic_error{"subscription '" + subscription->get_name() +
                             "' gets messages by pointer, which a wait set does not see; create "
                             "the context with use_intra_process = false"};
    }
    SubscriptionTask& task = subscriptions_.emplace_back();
    task.subscription = subscription;
    task.options = options;
    name(task, subscription->get_name());
    task.topic = trace_topic(subscription->get_topic_name());
  }

  void spin(os::TimePoint end, const os::StopFlag* stop) {
    if (tracer_) {
      recorder_ = tracer_->add_thread();
    }
    rcl_wait_set_t waiting = rcl_get_zero_initialized_wait_set();
    check(rcl_wait_set_init(&waiting, subscriptions_.size(), 1, timers_.size(), 0, 0, 0,
                            context.get_rcl_context(), allocator_),
          "cannot create a wait set", "baseline0");
    const std::unique_ptr<rcl_wait_set_t, void (*)(rcl_wait_set_t*)> closing{
        &waiting, [](rcl_wait_set_t* set) { forget(rcl_wait_set_fini(set)); }};
    const bool bounded = end != os::TimePoint::max();
    const auto over = [&] {
      return stopping_.load() || (stop != nullptr && stop->requested()) ||
             (bounded && os::now() >= end);
    };
    while (!over()) {
      fill(waiting);
      const auto left = std::max<std::int64_t>((end - os::now()).count(), 0);
      const rcl_ret_t waited = rcl_wait(&waiting, bounded ? left : -1);
      if (waited == RCL_RET_TIMEOUT) {
        rcl_reset_error();
        continue;
      }
      check(waited, "cannot wait", "baseline0");
      const os::TimePoint woken = os::now();
      for (std::size_t i = 0; i < timers_.size() && !over(); ++i) {
        if (waiting.timers[i] != nullptr) {
          run(timers_[i]);
        }
      }
      for (std::size_t i = 0; i < subscriptions_.size() && !over(); ++i) {
        if (waiting.subscriptions[i] != nullptr) {
          run(subscriptions_[i], woken);
        }
      }
    }
    if (tracer_) {
      tracer_->stop();
    }
  }

  void request_stop() noexcept {
    stopping_.store(true);
    forget(rcl_trigger_guard_condition(&wake_));
  }

  Context context;

 private:
  void name(Task& task, const std::string& default_name) {
    task.index = tasks_++;
    if (task.options.name.empty()) {
      task.options.name = default_name;
    }
    if (tracer_) {
      tracer_->writer().name(trace::NameKind::task, task.index, task.options.name);
    }
  }

  void fill(rcl_wait_set_t& waiting) {
    check(rcl_wait_set_clear(&waiting), "cannot clear a wait set", "baseline0");
    check(rcl_wait_set_add_guard_condition(&waiting, &wake_, nullptr), "cannot wait for a wake-up",
          "baseline0");
    for (const TimerTask& task : timers_) {
      check(rcl_wait_set_add_timer(&waiting, &task.handle, nullptr), "cannot wait for a timer",
            task.timer->get_name());
    }
    for (const SubscriptionTask& task : subscriptions_) {
      check(rcl_wait_set_add_subscription(&waiting, &task.subscription->get_subscription_handle(),
                                          nullptr),
            "cannot wait for a subscription", task.subscription->get_name());
    }
  }

  void run(TimerTask& task) {
    rcl_timer_call_info_t times{};
    check(rcl_timer_call_with_info(&task.handle, &times), "cannot call a timer",
          task.timer->get_name());
    const os::TimePoint started = os::now();
    // Intended and actual are of rcl's clock; how far apart they are is what counts.
    const os::TimePoint intended =
        started - std::chrono::nanoseconds{times.actual_call_time - times.expected_call_time};
    const std::chrono::nanoseconds period = task.timer->get_period();
    note_skipped(task, intended, period);
    const auto deadline = task.options.deadline.count() > 0 ? task.options.deadline : period;
    const sched::Job job{.task = task.index,
                         .priority = task.options.priority,
                         .index = task.jobs++,
                         .release = intended,
                         .deadline = intended + deadline,
                         .period = period};
    run(job, [&] { task.timer->run(job); }, started);
  }

  // rcl passes over the calls that are more than a period late.
  void note_skipped(TimerTask& task, os::TimePoint intended, std::chrono::nanoseconds period) {
    const auto since = intended - std::exchange(task.intended, intended);
    if (task.jobs == 0) {
      return;
    }
    const std::int64_t skipped = (since + period / 2) / period - 1;
    if (skipped < 1) {
      return;
    }
    recorder_.record(EventType::skip, intended - skipped * period, task.index, task.jobs, skipped);
    task.jobs += static_cast<std::uint64_t>(skipped);
  }

  void run(SubscriptionTask& task, os::TimePoint woken) {
    const bool has_deadline = task.options.deadline.count() > 0;
    const sched::Job job{
        .task = task.index,
        .priority = task.options.priority,
        .index = task.jobs++,
        .release = woken,
        .deadline = has_deadline ? woken + task.options.deadline : os::TimePoint::max()};
    const auto take = [&] {
      const executor::Delivered delivered = task.subscription->deliver_oldest();
      if (delivered.count == 0) {
        return;
      }
      const os::TimePoint now = os::now();
      recorder_.record(EventType::deliver, now, task.index, job.index,
                       delivered.sampled ? (now - *delivered.sampled).count() : -1, task.topic, 1);
    };
    run(job, take, os::now());
  }

  template <class Function>
  void run(const sched::Job& job, Function function, os::TimePoint started) {
    const trace::CurrentJob current{recorder_, job.task, job.index};
    const std::int64_t deadline = job.deadline.time_since_epoch().count();  // max(): no_deadline
    recorder_.record(EventType::release, job.release, job.task, job.index, deadline);
    recorder_.record(EventType::start, started, job.task, job.index, job.priority);
    const std::int64_t cpu_before = recorder_.on() ? thread_cpu_ns() : 0;
    if (cpu_at_last_end_) {
      recorder_.record(EventType::dispatch, started, job.task, job.index,
                       cpu_before - *cpu_at_last_end_);
    }
    function();
    if (recorder_.on()) {
      cpu_at_last_end_ = thread_cpu_ns();
    }
    const std::int64_t used = cpu_at_last_end_ ? *cpu_at_last_end_ - cpu_before : -1;
    const os::TimePoint ended = os::now();
    recorder_.record(EventType::end, ended, job.task, job.index, used);
    if (ended > job.deadline) {
      recorder_.record(EventType::deadline_miss, ended, job.task, job.index, deadline);
    }
  }

  void close() noexcept {
    for (TimerTask& task : timers_) {
      forget(rcl_timer_fini(&task.handle));
    }
    forget(rcl_guard_condition_fini(&wake_));
    forget(rcl_clock_fini(&clock_));
  }

  rcl_allocator_t allocator_{rcl_get_default_allocator()};
  rcl_clock_t clock_{};
  rcl_guard_condition_t wake_{rcl_get_zero_initialized_guard_condition()};
  std::deque<TimerTask> timers_;  // rcl keeps the address of each
  std::deque<SubscriptionTask> subscriptions_;
  std::uint16_t tasks_{0};
  std::map<std::string, std::uint16_t> topics_;
  std::unique_ptr<trace::Tracer> tracer_;
  trace::Recorder recorder_;
  std::optional<std::int64_t> cpu_at_last_end_;
  std::atomic<bool> stopping_{false};
};

SingleThreadedExecutor::SingleThreadedExecutor(const Context& context, const Options& options)
    : implementation_{std::make_unique<Implementation>(context, options)} {}

SingleThreadedExecutor::~SingleThreadedExecutor() = default;

void SingleThreadedExecutor::add_node(const Node& node) {
  for (const auto& timer : node.get_timers()) {
    implementation_->add(timer, {});
  }
  for (const auto& subscription : node.get_subscriptions()) {
    implementation_->add(subscription, {});
  }
}

void SingleThreadedExecutor::add(const std::shared_ptr<Timer>& timer,
                                 const CallbackOptions& options) {
  implementation_->add(timer, options);
}

void SingleThreadedExecutor::add(const std::shared_ptr<SubscriptionBase>& subscription,
                                 const CallbackOptions& options) {
  implementation_->add(subscription, options);
}

void SingleThreadedExecutor::begin_at(os::TimePoint start) {
  implementation_->begin_at(start);
}

std::uint16_t SingleThreadedExecutor::trace_topic(const std::string& topic) {
  return implementation_->trace_topic(topic);
}

trace::Recorder SingleThreadedExecutor::add_trace_thread() {
  return implementation_->add_trace_thread();
}

void SingleThreadedExecutor::spin() {
  implementation_->spin(os::TimePoint::max(), nullptr);
}

void SingleThreadedExecutor::spin(os::StopFlag& stop, os::TimePoint end) {
  os::Event ended_or_asked;
  stop.attach(ended_or_asked);
  {
    // A signal handler must not touch rcl, so a thread does.
    os::Thread watching{{.name = "takt.stop"}, [&] {
                          ended_or_asked.wait();
                          request_stop();
                        }};
    try {
      implementation_->spin(end, &stop);
    } catch (...) {
      ended_or_asked.notify();
      watching.join();
      stop.detach(ended_or_asked);
      throw;
    }
    ended_or_asked.notify();
  }
  stop.detach(ended_or_asked);
}

void SingleThreadedExecutor::request_stop() noexcept {
  implementation_->request_stop();
}

}  // namespace takt::baseline
