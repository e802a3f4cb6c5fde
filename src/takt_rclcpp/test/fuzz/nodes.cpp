// SPDX-License-Identifier: Apache-2.0
//
// Nodes with entities of each kind that come, change hands and go while two executors spin: from
// several threads and from callbacks, under overload and with callbacks that starve.
#include <mutex>
#include <utility>

#include "guests.hpp"

namespace takt::fuzz {
namespace {

std::string name_of(const char* kind, std::uint64_t number) {
  return kind + std::to_string(number);
}

template <class Entity>
void drop_one(std::vector<Entity>& of, Random& random) {
  if (!of.empty()) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(below(random, of.size())));
  }
}

}  // namespace

Guest::Guest(Round& round, const rclcpp::Context::SharedPtr& context, std::size_t number,
             Random& random)
    : round_{round},
      node_{std::make_shared<rclcpp::Node>(name_of("guest", number),
                                           rclcpp::NodeOptions{}
                                               .context(context)
                                               .use_intra_process_comms(one_in(random, 2))
                                               .start_parameter_services(one_in(random, 2)))} {}

auto Guest::work(std::shared_ptr<std::atomic<bool>> forbidden) {
  return [&round = round_, token = round_.tokens.make(), self = weak_from_this(),
          forbidden = std::move(forbidden)] {
    check(!*forbidden, "a callback runs after it has gone");
    token.use();
    round.from_callback(self);
    token.use();
    check(!*forbidden, "a callback runs on after it has gone");
  };
}

rclcpp::CallbackGroup::SharedPtr Guest::some_group(Random& random) {
  if (groups_.size() < 3 && one_in(random, 3)) {
    groups_.push_back(node_->create_callback_group(
        one_in(random, 2) ? rclcpp::CallbackGroupType::Reentrant
                          : rclcpp::CallbackGroupType::MutuallyExclusive));
  }
  return groups_.empty() || one_in(random, 2) ? nullptr : groups_[below(random, groups_.size())];
}

void Guest::make_entity(Random& random) {
  if (timers_.size() + others_.size() + publishers_.size() + clients_.size() > 12) {
    return;
  }
  const auto group = some_group(random);
  const std::string topic = name_of("topic", below(random, topics));
  const std::string service = name_of("service", below(random, topics));
  const std::chrono::milliseconds period{5 + below(random, 50)};
  switch (below(random, 6)) {
    case 0:
      timers_.push_back(node_->create_wall_timer(period, work(gone_), group));
      break;
    case 1:
      timers_.push_back(
          rclcpp::create_timer(node_, node_->get_clock(), period, work(gone_), group));
      break;
    case 2: {
      rclcpp::SubscriptionOptions options;
      options.callback_group = group;
      if (one_in(random, 2)) {
        others_.push_back(node_->create_subscription<Int32>(
            topic, 1 + below(random, 5), [run = work(gone_)](const Int32&) { run(); }, options));
      } else {
        others_.push_back(node_->create_subscription<Int32>(
            topic, 1 + below(random, 5),
            [run = work(gone_)](Int32::UniquePtr message) {
              check(message != nullptr, "a message is missing");
              run();
            },
            options));
      }
      break;
    }
    case 3:
      others_.push_back(node_->create_service<ListParameters>(
          service,
          [run = work(gone_)](const ListParameters::Request::SharedPtr,
                              const ListParameters::Response::SharedPtr) { run(); },
          rclcpp::ServicesQoS(), group));
      break;
    case 4:
      clients_.push_back(
          node_->create_client<ListParameters>(service, rclcpp::ServicesQoS(), group));
      break;
    default:
      publishers_.push_back(node_->create_publisher<Int32>(topic, 1 + below(random, 5)));
  }
}

void Guest::drop_entity(Random& random) {
  switch (below(random, 4)) {
    case 0:
      drop_one(timers_, random);
      break;
    case 1:
      drop_one(others_, random);
      break;
    case 2:
      drop_one(publishers_, random);
      break;
    default:
      drop_one(clients_, random);
  }
}

void Guest::disturb_timer(Random& random) {
  if (!timers_.empty()) {
    const auto& timer = timers_[below(random, timers_.size())];
    one_in(random, 3) ? timer->cancel() : timer->reset();
  }
}

void Guest::send(Random& random) {
  if (!clients_.empty() && one_in(random, 4)) {
    const auto& client = clients_[below(random, clients_.size())];
    client->async_send_request(
        std::make_shared<ListParameters::Request>(),
        [run = work(gone_)](rclcpp::Client<ListParameters>::SharedFuture) { run(); });
    if (one_in(random, 8)) {
      client->prune_pending_requests();
    }
  } else if (!publishers_.empty()) {
    const auto& publisher = publishers_[below(random, publishers_.size())];
    if (one_in(random, 2)) {
      publisher->publish(std::make_unique<Int32>());
    } else {
      publisher->publish(Int32{});
    }
  }
}

void Guest::move_to(int host, bool waits) {
  if (host_ >= 0) {
    Host& former = round_.host(host_);
    former.executor.remove_node(node_);
    if (waits) {
      former.expect_gone();
      *gone_ = true;
    }
  }
  host_ = host;
  if (host_ >= 0) {
    *gone_ = false;
    round_.host(host_).executor.add_node(node_);
  }
}

void Guest::make_lone_group(Random& random) {
  if (lone_groups_.size() >= 2) {
    return;
  }
  LoneGroup lone{
      .group = node_->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false),
      .timer = nullptr,
      .gone = std::make_shared<std::atomic<bool>>(false),
      .host = static_cast<int>(below(random, 2))};
  lone.timer = node_->create_wall_timer(3ms, work(lone.gone), lone.group);
  round_.host(lone.host).executor.add_callback_group(lone.group, node_->get_node_base_interface());
  lone_groups_.push_back(std::move(lone));
}

void Guest::drop_lone_group(bool waits) {
  if (lone_groups_.empty()) {
    return;
  }
  const LoneGroup lone = std::move(lone_groups_.back());
  lone_groups_.pop_back();
  Host& host = round_.host(lone.host);
  host.executor.remove_callback_group(lone.group);
  if (waits) {
    host.expect_gone();
    *lone.gone = true;
  }
}

// Nobody runs for longer than a moment any more: whoever is there gets its turn.
void Guest::expect_alive() {
  const std::lock_guard lock{mutex};
  if (host_ < 0) {
    return;
  }
  const auto calls = std::make_shared<std::atomic<int>>(0);
  auto timer = node_->create_wall_timer(2ms, [calls] { ++*calls; });
  expect_eventually("a timer is not called", [&] { return *calls > 2; });
}

void Guest::leave() {
  const std::lock_guard lock{mutex};
  while (!lone_groups_.empty()) {
    drop_lone_group(true);
  }
  move_to(-1, true);
}

void nodes(Random& random) {
  Round round{random};
  round.play(random);
}

}  // namespace takt::fuzz
