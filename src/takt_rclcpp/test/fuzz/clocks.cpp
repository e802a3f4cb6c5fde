// SPDX-License-Identifier: Apache-2.0
//
// Simulated time that runs, pauses and jumps in both directions, and comes and goes, under timers
// that come, go, and are cancelled and reset.
#include <mutex>
#include <rosgraph_msgs/msg/clock.hpp>

#include "fuzz.hpp"

namespace takt::fuzz {
namespace {

using rosgraph_msgs::msg::Clock;

class Simulated {
 public:
  Simulated(Random& random, const Token::Count& count)
      : has_clock_thread_{one_in(random, 2)},
        tokens_{count},
        host_{draw_options(random), context_},
        node_{std::make_shared<rclcpp::Node>("simulated",
                                             rclcpp::NodeOptions{}
                                                 .context(context_)
                                                 .use_clock_thread(has_clock_thread_)
                                                 .append_parameter_override("use_sim_time", true))},
        source_{std::make_shared<rclcpp::Node>("source", rclcpp::NodeOptions{}.context(context_))},
        times_{source_->create_publisher<Clock>("/clock", rclcpp::ClockQoS())} {
    host_.executor.add_node(node_);
  }

  void play(Random& random) {
    for (int i = 0; i < 4; ++i) {
      make_timer(random);
    }
    std::thread other{[this, own = Random{random()}]() mutable {
      for (int i = 0; i < 150; ++i) {
        disturb(own);
      }
    }};
    for (int i = 0; i < 150; ++i) {
      pass_time(random);
    }
    other.join();
    node_->set_parameter({"use_sim_time", true});
    const auto calls = std::make_shared<std::atomic<int>>(0);
    const auto timer = rclcpp::create_timer(node_, node_->get_clock(), 10ms,
                                            [calls, token = tokens_.make()] { ++*calls; });
    expect_eventually("a timer does not follow simulated time", [&] {
      step(20ms);
      return *calls > 2;
    });
    // Time may change for as long as anything of it is there.
    std::thread late{[this] {
      for (int i = 0; i < 50; ++i) {
        step(5ms);
      }
    }};
    if (one_in(random, 2)) {
      host_.executor.remove_node(node_);
      host_.expect_gone();
    } else if (one_in(random, 2)) {
      host_.end();
    }
    {
      const std::lock_guard lock{mutex_};
      timers_.clear();
    }
    late.join();
  }

 private:
  void step(std::chrono::nanoseconds by) {
    const std::lock_guard lock{time_mutex_};
    now_ += by;
    if (now_ < 0ns) {
      now_ = 0ns;
    }
    Clock message;
    message.clock = rclcpp::Time{now_.count()};
    times_->publish(message);
  }

  void pass_time(Random& random) {
    switch (below(random, 8)) {
      case 0:
        step(-std::chrono::milliseconds{below(random, 5000)});
        break;
      case 1:
        step(std::chrono::milliseconds{below(random, 5000)});
        break;
      case 2:
        os::sleep_until(os::now() + std::chrono::microseconds{below(random, 5000)});
        break;
      case 3:
        step(0ms);
        break;
      default:
        step(std::chrono::microseconds{below(random, 5000)});
    }
  }

  void disturb(Random& random) {
    os::sleep_until(os::now() + std::chrono::microseconds{below(random, 500)});
    const std::uint64_t what = below(random, 12);
    // rclcpp waits without end for a clock's thread that it cancels before that spins.
    if (what == 0 && !has_clock_thread_) {
      node_->set_parameter({"use_sim_time", one_in(random, 2)});
      return;
    }
    if (what == 1) {
      static_cast<void>(node_->now());
      return;
    }
    if (what < 4) {
      make_timer(random);
      return;
    }
    const std::lock_guard lock{mutex_};
    if (timers_.empty()) {
      return;
    }
    const auto at = timers_.begin() + static_cast<std::ptrdiff_t>(below(random, timers_.size()));
    switch (what) {
      case 4:
      case 5:
        timers_.erase(at);
        break;
      case 6:
        (*at)->cancel();
        break;
      case 7:
        static_cast<void>((*at)->time_until_trigger());
        break;
      default:
        (*at)->reset();
    }
  }

  void make_timer(Random& random) {
    const std::lock_guard lock{mutex_};
    if (timers_.size() < 10) {
      timers_.push_back(rclcpp::create_timer(node_, node_->get_clock(),
                                             std::chrono::milliseconds{1 + below(random, 40)},
                                             [token = tokens_.make()] { token.use(); }));
    }
  }

  const bool has_clock_thread_;
  const Token::Count& tokens_;
  const rclcpp::Context::SharedPtr context_ = make_context();
  Host host_;
  const rclcpp::Node::SharedPtr node_;
  const rclcpp::Node::SharedPtr source_;
  const rclcpp::Publisher<Clock>::SharedPtr times_;
  std::mutex time_mutex_;
  std::chrono::nanoseconds now_ = 100s;
  std::mutex mutex_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
};

}  // namespace

void clocks(Random& random) {
  const Token::Count tokens;
  {
    Simulated simulated{random, tokens};
    simulated.play(random);
  }
  tokens.expect_none();
}

}  // namespace takt::fuzz
