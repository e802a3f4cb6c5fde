// SPDX-License-Identifier: Apache-2.0
//
// An application that either executor can run: nodes, each with one timer and perhaps a
// subscription. Takt runs it with fixed priorities, baseline0 in the order of its wait set, at a
// real-time priority too.
#pragma once

#include <memory>
#include <string>
#include <takt/rcl/node.hpp>
#include <takt/rcl/subscription_base.hpp>
#include <vector>

#include "bench.hpp"

namespace takt::bench {

struct Member {
  Node node;
  std::shared_ptr<Timer> timer;
  std::shared_ptr<SubscriptionBase> subscription{};  // null: none
  // Takt: the subscription is delivered before the timer; else it is a task of its own.
  bool reads{false};
  int priority{40};
  nanoseconds offset{0};  // of the timer's releases among the members
};

class Application {
 public:
  virtual ~Application() = default;
  Application() = default;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  Application(Application&&) = delete;
  Application& operator=(Application&&) = delete;

  virtual void start() = 0;
  virtual void stop() = 0;
};

// By the executor that the settings name. Throws as the executors do.
std::unique_ptr<Application> make_application(const Settings& settings, const Context& context,
                                              std::vector<Member> members);

// Waits until every publisher has its readers; the middleware matches them in its own time.
// Throws std::runtime_error after ten seconds.
void wait_for_readers(const std::vector<std::shared_ptr<PublisherBase>>& publishers);

}  // namespace takt::bench
