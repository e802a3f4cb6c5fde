// SPDX-License-Identifier: Apache-2.0
#include <rcl/error_handling.h>
#include <rcl/guard_condition.h>
#include <rcl/timer.h>
#include <rcl/wait.h>

#include <atomic>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <takt/baseline/single_threaded_executor.hpp>
#include <takt/os/event.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/error.hpp>
#include <takt/trace/tracer.hpp>
#include <utility>

namespace takt::baseline {
namespace {

using trace::EventType;

void check(rcl_ret_t code, const char* operation, const std::string& where) {
  if (code == RCL_RET_OK) return;
  std::string reason = rcl_get_error_string().str;
  rcl_reset_error();
  throw RclError{code, operation, where, std::move(reason)};
}

// For what happens while something ends: nobody could do anything about it.
void forget(rcl_ret_t code) noexcept {
  if (code != RCL_RET_OK) rcl_reset_error();
}

// One callback, with what its trace needs.
struct Task {
  std::uint16_t index{0};
  std::uint64_t jobs{0};
};

struct TimerTask : Task {
  std::shared_ptr<Timer> timer;
  rcl_timer_t handle{rcl_get_zero_initialized_timer()};
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
      }
    } catch (...) {
      close();
      throw;
    }
  }
  ~Implementation() { close(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  void add(const std::shared_ptr<Timer>& timer) {
    TimerTask& task = timers_.emplace_back();
    task.timer = timer;
    const rcl_ret_t code = rcl_timer_init2(&task.handle, &clock_, context.get_rcl_context(),
                                           timer->get_period().count(), nullptr, allocator_, true);
    if (code != RCL_RET_OK) timers_.pop_back();
    check(code, "cannot create a timer", timer->get_name());
    name(task, timer->get_name());
  }

  void add(const std::shared_ptr<SubscriptionBase>& subscription) {
    if (subscription->uses_intra_process()) {
      throw std::logic_error{"subscription '" + subscription->get_name() +
                             "' gets messages by pointer, which a wait set does not see; create "
                             "the context with use_intra_process = false"};
    }
    SubscriptionTask& task = subscriptions_.emplace_back();
    task.subscription = subscription;
    name(task, subscription->get_name());
    if (!tracer_) return;
    const auto [entry, is_new] = topics_.try_emplace(subscription->get_topic_name(),
                                                     static_cast<std::uint16_t>(topics_.size()));
    task.topic = entry->second;
    if (is_new) tracer_->writer().name(trace::NameKind::topic, task.topic, entry->first);
  }

  void spin() {
    if (tracer_) recorder_ = tracer_->add_thread();
    rcl_wait_set_t waiting = rcl_get_zero_initialized_wait_set();
    check(rcl_wait_set_init(&waiting, subscriptions_.size(), 1, timers_.size(), 0, 0, 0,
                            context.get_rcl_context(), allocator_),
          "cannot create a wait set", "baseline0");
    const std::unique_ptr<rcl_wait_set_t, void (*)(rcl_wait_set_t*)> closing{
        &waiting, [](rcl_wait_set_t* set) { forget(rcl_wait_set_fini(set)); }};
    while (!stopping_.load()) {
      fill(waiting);
      check(rcl_wait(&waiting, -1), "cannot wait", "baseline0");
      const os::TimePoint woken = os::now();
      for (std::size_t i = 0; i < timers_.size() && !stopping_.load(); ++i) {
        if (waiting.timers[i] != nullptr) execute(timers_[i]);
      }
      for (std::size_t i = 0; i < subscriptions_.size() && !stopping_.load(); ++i) {
        if (waiting.subscriptions[i] != nullptr) execute(subscriptions_[i], woken);
      }
    }
    if (tracer_) tracer_->stop();
  }

  void request_stop() noexcept {
    stopping_.store(true);
    forget(rcl_trigger_guard_condition(&wake_));
  }

  Context context;

 private:
  void name(Task& task, const std::string& text) {
    task.index = tasks_++;
    if (tracer_) tracer_->writer().name(trace::NameKind::task, task.index, text);
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

  void execute(TimerTask& task) {
    rcl_timer_call_info_t times{};
    check(rcl_timer_call_with_info(&task.handle, &times), "cannot call a timer",
          task.timer->get_name());
    const os::TimePoint started = os::now();
    // Intended and actual are of rcl's clock; how far apart they are is what counts.
    const os::TimePoint intended =
        started - std::chrono::nanoseconds{times.actual_call_time - times.expected_call_time};
    const std::chrono::nanoseconds period = task.timer->get_period();
    const sched::Job job{.task = task.index,
                         .index = task.jobs++,
                         .release = intended,
                         .deadline = intended + period,
                         .period = period};
    recorder_.record(EventType::release, intended, task.index, job.index,
                     job.deadline.time_since_epoch().count());
    recorder_.record(EventType::start, started, task.index, job.index, 0);
    task.timer->execute(job);
    end(job);
  }

  void execute(SubscriptionTask& task, os::TimePoint woken) {
    const sched::Job job{.task = task.index, .index = task.jobs++, .release = woken};
    recorder_.record(EventType::release, woken, task.index, job.index, trace::no_deadline);
    recorder_.record(EventType::start, os::now(), task.index, job.index, 0);
    const executor::Delivered delivered = task.subscription->deliver_oldest();
    const os::TimePoint now = os::now();
    if (delivered.count > 0) {
      recorder_.record(EventType::deliver, now, task.index, job.index,
                       delivered.sampled ? (now - *delivered.sampled).count() : -1, task.topic, 1);
    }
    end(job);
  }

  void end(const sched::Job& job) {
    recorder_.record(EventType::end, os::now(), job.task, job.index, -1);
  }

  void close() noexcept {
    for (TimerTask& task : timers_) forget(rcl_timer_fini(&task.handle));
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
  std::atomic<bool> stopping_{false};
};

SingleThreadedExecutor::SingleThreadedExecutor(const Context& context, const Options& options)
    : implementation_{std::make_unique<Implementation>(context, options)} {}

SingleThreadedExecutor::~SingleThreadedExecutor() = default;

void SingleThreadedExecutor::add_node(const Node& node) {
  for (const auto& timer : node.get_timers()) implementation_->add(timer);
  for (const auto& subscription : node.get_subscriptions()) implementation_->add(subscription);
}

void SingleThreadedExecutor::spin() {
  implementation_->spin();
}

void SingleThreadedExecutor::spin(os::StopFlag& stop) {
  os::Event ended_or_asked;
  stop.attach(ended_or_asked);
  {
    // A signal handler must not touch rcl, so a thread does.
    os::Thread watching{{.name = "takt.stop"}, [&] {
                          ended_or_asked.wait();
                          request_stop();
                        }};
    try {
      spin();
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
