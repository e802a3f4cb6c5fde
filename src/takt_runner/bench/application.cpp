// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

#include <stdexcept>
#include <takt/baseline/single_threaded_executor.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <utility>

namespace takt::bench {
namespace {

class WithTakt final : public Application {
 public:
  WithTakt(const Settings& settings, std::vector<Member> members)
      : members_{std::move(members)},
        executor_{{.policy = fixed_priority(),
                   .cpus = {settings.cpu},
                   .on_not_granted = note_not_granted}} {
    for (const Member& member : members_) {
      TaskOptions options{.priority = member.priority, .offset = member.offset};
      if (member.reads && member.subscription) {
        options.reads = {member.subscription};
      }
      executor_.add(member.timer, options);
      if (!member.reads && member.subscription) {
        executor_.add(member.subscription, {.priority = member.priority});
      }
    }
  }

  void start() override { executor_.start(); }
  void stop() override { executor_.stop(); }

 private:
  std::vector<Member> members_;
  SchedulingExecutor executor_;
};

class WithBaseline0 final : public Application {
 public:
  WithBaseline0(const Settings& settings, const Context& context, std::vector<Member> members)
      : cpu_{settings.cpu}, members_{std::move(members)}, executor_{context} {}

  void start() override {
    // Its timers count from when they are added, so a thread adds them that is not late.
    os::Thread adding{{.policy = os::SchedulingPolicy::fifo, .priority = 60, .cpus = {cpu_}},
                      [this] {
                        const os::TimePoint begin = os::now() + 1ms;
                        for (const Member& member : members_) {
                          if (member.offset.count() > 0) {
                            os::sleep_until(begin + member.offset);
                          }
                          executor_.add_node(member.node);
                        }
                      }};
    adding.join();
    constexpr int priority = 40;
    thread_ = std::make_unique<os::Thread>(os::ThreadSettings{.policy = os::SchedulingPolicy::fifo,
                                                              .priority = priority,
                                                              .cpus = {cpu_},
                                                              .name = "baseline0"},
                                           [this] { executor_.spin(); });
    note_not_granted(thread_->not_granted());
  }

  void stop() override {
    executor_.request_stop();
    thread_->join();
  }

 private:
  int cpu_;
  std::vector<Member> members_;
  baseline::SingleThreadedExecutor executor_;
  std::unique_ptr<os::Thread> thread_;
};

}  // namespace

std::unique_ptr<Application> make_application(const Settings& settings, const Context& context,
                                              std::vector<Member> members) {
  if (settings.executor == "baseline0") {
    return std::make_unique<WithBaseline0>(settings, context, std::move(members));
  }
  return std::make_unique<WithTakt>(settings, std::move(members));
}

void wait_for_readers(const std::vector<std::shared_ptr<PublisherBase>>& publishers) {
  const os::TimePoint latest = os::now() + 10s;
  for (const auto& publisher : publishers) {
    while (publisher->get_subscription_count() == 0) {
      if (os::now() > latest) {
        throw std::runtime_error{"nobody reads " + publisher->get_topic_name()};
      }
      os::sleep_until(os::now() + 1ms);
    }
  }
}

}  // namespace takt::bench
