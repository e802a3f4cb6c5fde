// SPDX-License-Identifier: Apache-2.0
//
// Every order in which the last references to context, node, executor, publisher and subscription
// go, with an executor that has never spun, has spun, or spins until it is its turn; messages are
// on their way meanwhile.
#include <algorithm>
#include <array>
#include <std_msgs/msg/int32.hpp>

#include "fuzz.hpp"

namespace takt::fuzz {
namespace {

using std_msgs::msg::Int32;

enum class Part : std::uint8_t { context, node, executor, publisher, subscription };

// One of each, as an application has them.
class Application {
 public:
  Application(Random& random, const Token::Count& tokens)
      : node_{std::make_shared<rclcpp::Node>("going",
                                             rclcpp::NodeOptions{}
                                                 .context(context_)
                                                 .use_intra_process_comms(one_in(random, 2))
                                                 .start_parameter_services(one_in(random, 4))
                                                 .start_parameter_event_publisher(false)
                                                 .enable_rosout(false))},
        publisher_{node_->create_publisher<Int32>("going", 5)},
        subscription_{node_->create_subscription<Int32>(
            "going", 5,
            [token = tokens.make(), calls = calls_](const Int32&) {
              token.use();
              ++*calls;
            })},
        is_shut_down_{one_in(random, 2)} {
    if (one_in(random, 3)) {
      executor_ = std::make_unique<Host>(draw_options(random), context_);
      executor_->executor.add_node(node_);
      if (one_in(random, 2)) {
        publisher_->publish(Int32{});
        expect_eventually("a message is not heard", [&] {
          publisher_->publish(Int32{});
          return *calls_ > 0;
        });
      }
      if (one_in(random, 3)) {
        executor_->end();
      }
    } else {
      rclcpp::ExecutorOptions of_base;
      of_base.context = context_;
      idle_ = std::make_unique<SchedulingExecutor>(draw_options(random), of_base);
      if (one_in(random, 4)) {
        idle_->add_node(node_);
        idle_->spin_some();
      } else if (one_in(random, 2)) {
        idle_->add_node(node_);
      }
    }
  }

  void destroy(Part part, Random& random) {
    if (publisher_ && one_in(random, 2) && rclcpp::ok(context_)) {
      publisher_->publish(Int32{});
    }
    switch (part) {
      case Part::context:
        if (is_shut_down_) {
          context_->shutdown("it goes");
        }
        context_.reset();
        break;
      case Part::node:
        node_.reset();
        break;
      case Part::executor:
        executor_.reset();
        idle_.reset();
        break;
      case Part::publisher:
        publisher_.reset();
        break;
      case Part::subscription:
        subscription_.reset();
        break;
    }
  }

 private:
  const std::shared_ptr<std::atomic<int>> calls_ = std::make_shared<std::atomic<int>>(0);
  rclcpp::Context::SharedPtr context_ = make_context();
  rclcpp::Node::SharedPtr node_;
  rclcpp::Publisher<Int32>::SharedPtr publisher_;
  rclcpp::Subscription<Int32>::SharedPtr subscription_;
  bool is_shut_down_ = false;
  std::unique_ptr<Host> executor_;  // that spins
  std::unique_ptr<SchedulingExecutor> idle_;
};

}  // namespace

// All 120 orders.
void destruction(Random& random) {
  std::array parts{Part::context, Part::node, Part::executor, Part::publisher, Part::subscription};
  do {
    const Token::Count tokens;
    {
      Application application{random, tokens};
      for (const Part part : parts) {
        application.destroy(part, random);
      }
    }
    tokens.expect_none();
  } while (std::ranges::next_permutation(parts).found);
}

}  // namespace takt::fuzz
