// SPDX-License-Identifier: Apache-2.0
//
// Many subscriptions at once, by any way to one executor, made and destroyed while it spins. By
// hand: --subject crowd --crowd 100000 --rounds 1.
#include <algorithm>
#include <std_msgs/msg/int32.hpp>

#include "fuzz.hpp"

namespace takt::fuzz {

using std_msgs::msg::Int32;

void crowd(Random& random) {
  constexpr std::size_t each_node = 1000;
  const Token::Count tokens;
  {
    const auto context = make_context();
    Host host{draw_options(random), context};
    std::vector<rclcpp::Node::SharedPtr> members;
    std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
    const auto calls = std::make_shared<std::atomic<std::size_t>>(0);
    while (subscriptions.size() < crowd_size) {
      members.push_back(std::make_shared<rclcpp::Node>("member" + std::to_string(members.size()),
                                                       rclcpp::NodeOptions{}
                                                           .context(context)
                                                           .use_intra_process_comms(true)
                                                           .start_parameter_services(false)
                                                           .start_parameter_event_publisher(false)
                                                           .enable_rosout(false)));
      const bool before = one_in(random, 2);
      if (before) {
        host.executor.add_node(members.back());
      }
      for (std::size_t i = 0; i < each_node && subscriptions.size() < crowd_size; ++i) {
        subscriptions.push_back(members.back()->create_subscription<Int32>(
            "crowd" + std::to_string(subscriptions.size()), 1,
            [token = tokens.make(), calls](const Int32&) {
              token.use();
              ++*calls;
            }));
      }
      if (!before) {
        host.executor.add_node(members.back());
      }
    }
    // Some of them are spoken to; the last one surely.
    std::size_t expected = 0;
    for (const std::size_t number :
         {below(random, crowd_size), below(random, crowd_size), crowd_size - 1}) {
      const auto publisher =
          members[0]->create_publisher<Int32>("crowd" + std::to_string(number), 1);
      ++expected;
      expect_eventually("a subscription of many is not called", [&] {
        publisher->publish(std::make_unique<Int32>());
        return *calls >= expected;
      });
      expected = *calls;
    }
    std::ranges::shuffle(subscriptions, random);
    if (one_in(random, 2)) {
      subscriptions.resize(subscriptions.size() / 2);
      host.executor.remove_node(members.back());
      host.expect_gone();
    }
    if (one_in(random, 2)) {
      members.clear();
    }
    subscriptions.clear();
  }
  tokens.expect_none();
}

}  // namespace takt::fuzz
