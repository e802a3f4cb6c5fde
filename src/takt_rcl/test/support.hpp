// SPDX-License-Identifier: Apache-2.0
//
// What most tests need: two nodes of one context with one topic between them, and patience.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <takt/rcl/error.hpp>
#include <takt/rcl/node.hpp>
#include <takt/testing/patience.hpp>
#include <thread>
#include <utility>

namespace takt::test {

// Whether it returns, instead of waiting for itself. What it uses has to outlive the test.
template <class Act>
bool returns(Act act) {
  std::packaged_task<void()> task{std::move(act)};
  const auto done = task.get_future();
  std::thread acting{std::move(task)};
  const bool returned = done.wait_for(patience) == std::future_status::ready;
  if (returned) {
    acting.join();  // it still holds what it used, which must not end after main() does
  } else {
    acting.detach();
  }
  return returned;
}

// The RclError that `function` throws; nothing when it throws none.
template <class Function>
std::optional<RclError> error_of(Function function) {
  try {
    function();
  } catch (const RclError& error) {
    return error;
  }
  return std::nullopt;
}

template <class MessageT>
struct Link {
  explicit Link(const std::string& name, const QoS& qos = QoS{100},
                const SubscriptionOptions& options = {})
      : out{from.create_publisher<MessageT>(unique_topic(name), qos)},
        in{to.create_subscription<MessageT>(unique_topic(name), qos, options)} {}

  [[nodiscard]] bool connect() const {
    return eventually(
        [&] { return out->get_subscription_count() == 1 && in->get_publisher_count() == 1; });
  }

  // Takes the next message, waiting for it.
  [[nodiscard]] bool receive(MessageT& message, MessageInfo& info) const {
    return eventually([&] { return static_cast<bool>(in->take(message, info)); });
  }

  // What these tests are about is the middleware; messages by pointer have their own.
  Context context{ContextOptions{.use_intra_process = false}};
  Node from{context, "from"};
  Node to{context, "to"};
  std::shared_ptr<Publisher<MessageT>> out;
  std::shared_ptr<Subscription<MessageT>> in;
};

}  // namespace takt::test
