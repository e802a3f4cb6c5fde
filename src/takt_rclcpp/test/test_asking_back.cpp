// SPDX-License-Identifier: Apache-2.0
//
// Functions of users that the executor calls while it spins: they may ask it for anything, and
// change what it has, by themselves or by a thread for which they wait.
#include <rcutils/logging.h>

#include <cstdarg>
#include <functional>
#include <utility>

#include "support.hpp"

namespace takt::test {
namespace {

class AskingBack : public WithContext {};

// All that can be asked for.
void ask(SchedulingExecutor& executor) {
  static_cast<void>(executor.callbacks());
  static_cast<void>(executor.snapshot());
  static_cast<void>(executor.unmatched());
  static_cast<void>(executor.when_gone()());
  static_cast<void>(executor.scenario());
  EXPECT_THROW(static_cast<void>(executor.statistics("nobody")), std::out_of_range);
}

takt_rclcpp::SchedulingStrategy plain() {
  takt_rclcpp::SchedulingStrategy strategy;
  strategy.add_scenario(takt_rclcpp::SchedulingScenario{"plain"});
  return strategy;
}

TEST_F(AskingBack, aTimingRuleMay) {
  const auto node = std::make_shared<rclcpp::Node>("asks");
  const auto other = std::make_shared<rclcpp::Node>("other");
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.set_scheduling_strategy(plain());
  std::atomic<int> asked{0};
  executor.set_timing([&](const CallbackId& id) {
    ask(executor);
    std::async(std::launch::async, [&] { ask(executor); }).get();
    if (id.node == "/asks" && asked++ == 0) {
      executor.set_scheduling_strategy(plain());
      executor.add_node(other);
      executor.remove_node(other);
    }
    return Timing{};
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return calls > 3; }));
  EXPECT_GT(asked, 0);
}

// As a node brings them along.
class Curious : public rclcpp::Waitable {
 public:
  explicit Curious(std::function<void()> asked) : asked_{std::move(asked)} {}

  void add_to_wait_set(rcl_wait_set_t& /*set*/) override {}
  bool is_ready(const rcl_wait_set_t& /*set*/) override { return false; }
  std::shared_ptr<void> take_data() override { return nullptr; }
  std::shared_ptr<void> take_data_by_entity_id(std::size_t /*id*/) override { return nullptr; }
  void execute(const std::shared_ptr<void>& /*data*/) override { ++executed; }
  void set_on_ready_callback(std::function<void(std::size_t, int)> callback) override {
    asked_();
    callback(1, 0);
    listens = true;
  }
  void clear_on_ready_callback() override {
    listens = false;
    asked_();
  }
  std::vector<std::shared_ptr<rclcpp::TimerBase>> get_timers() const override {
    asked_();
    return {};
  }

  std::atomic<int> executed{0};
  std::atomic<bool> listens{false};

 private:
  const std::function<void()> asked_;
};

TEST_F(AskingBack, aWaitableMay) {
  const auto node = std::make_shared<rclcpp::Node>("has");
  const auto other = std::make_shared<rclcpp::Node>("other");
  SchedulingExecutor executor{quiet()};
  std::atomic<int> asked{0};
  const auto waitable = std::make_shared<Curious>([&] {
    ask(executor);
    std::async(std::launch::async, [&] { ask(executor); }).get();
    if (asked++ == 0) {
      executor.add_node(other);
    }
  });
  node->get_node_waitables_interface()->add_waitable(waitable, nullptr);
  executor.add_node(node);
  {
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return waitable->executed > 0; }));
    executor.remove_node(node);
    EXPECT_FALSE(waitable->listens);
  }
  executor.add_node(node);
  Spinning again{executor};
  const int executed = waitable->executed;
  EXPECT_TRUE(eventually([&] { return waitable->executed > executed; }));
}

TEST_F(AskingBack, aWaitableThatIsAskedToReportMayLetItsNodeGo) {
  const auto node = std::make_shared<rclcpp::Node>("leaves");
  SchedulingExecutor executor{quiet()};
  std::atomic<bool> leaves{false};
  const auto waitable = std::make_shared<Curious>([&] {
    if (leaves.exchange(false)) {
      executor.remove_node(node);
    }
  });
  node->get_node_waitables_interface()->add_waitable(waitable, nullptr);
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return waitable->executed > 0; }));
  leaves = true;  // it is asked again, once a second
  EXPECT_TRUE(eventually([&] { return executor.callbacks().empty(); }));
  EXPECT_FALSE(waitable->listens);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a C function has to find it
std::atomic<SchedulingExecutor*> asked_by_log{nullptr};

TEST_F(AskingBack, aHandlerOfLogsMay) {
  const auto node = std::make_shared<rclcpp::Node>("warned_of");
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(0ns, [&] { ++calls; });  // which is told of
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  asked_by_log = &executor;
  const rcutils_logging_output_handler_t before = rcutils_logging_get_output_handler();
  rcutils_logging_set_output_handler([](const rcutils_log_location_t*, int, const char* name,
                                        rcutils_time_point_value_t, const char*, va_list*) {
    SchedulingExecutor* const asked = asked_by_log;
    if (asked != nullptr && std::string{name} == "takt") {
      ask(*asked);
      asked_by_log = nullptr;
    }
  });
  {
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return calls > 0 && asked_by_log == nullptr; }));
  }
  rcutils_logging_set_output_handler(before);
  asked_by_log = nullptr;
}

}  // namespace
}  // namespace takt::test
