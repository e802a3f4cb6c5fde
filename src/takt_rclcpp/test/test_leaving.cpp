// SPDX-License-Identifier: Apache-2.0
//
// What leaves an executor is gone with its last reference elsewhere: its library may be unloaded
// then.
#include <rclcpp/version.h>

#include <algorithm>
#include <rclcpp/waitable.hpp>
#include <std_msgs/msg/int32.hpp>
#include <utility>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

// As libraries bring their own.
class Foreign : public rclcpp::Waitable {
 public:
  void add_to_wait_set(rcl_wait_set_t& /*set*/) override {}
  bool is_ready(const rcl_wait_set_t& /*set*/) override { return false; }
  std::shared_ptr<void> take_data() override { return nullptr; }
  std::shared_ptr<void> take_data_by_entity_id(std::size_t /*id*/) override { return nullptr; }
  void execute(const std::shared_ptr<void>& /*data*/) override {}
  void set_on_ready_callback(std::function<void(std::size_t, int)> /*callback*/) override {}
  void clear_on_ready_callback() override {}
#if RCLCPP_VERSION_GTE(29, 0, 0)
  std::vector<std::shared_ptr<rclcpp::TimerBase>> get_timers() const override { return {}; }
#endif
};

// A node with an entity of each kind, and what keeps it in memory.
class Component {
 public:
  explicit Component(const std::string& name)
      : node{std::make_shared<rclcpp::Node>(name)},
        base_{node->get_node_base_interface()},
        group_{node->get_node_base_interface()->get_default_callback_group()} {
    const auto token = std::make_shared<int>(0);
    token_ = token;
    const auto callback = [this, token] { calls += 1 + *token; };
    timer_ = node->create_wall_timer(1ms, callback);
    subscription_ =
        node->create_subscription<Int32>(unique(name), 1, [token](const Int32& /*heard*/) {});
    // The control block has the deleter for as long as anybody refers to it, and its code is in
    // the library.
    waitable_ = {new Foreign, [token](const Foreign* of) { delete of; }};
    node->get_node_waitables_interface()->add_waitable(waitable_, nullptr);
  }

  // All that its owner has of it.
  void go() {
    waitable_.reset();
    subscription_.reset();
    timer_.reset();
    node.reset();
  }
  // What of it is still there.
  [[nodiscard]] std::string left() const {
    return std::string{base_.expired() ? "" : "node "} + (group_.expired() ? "" : "group ") +
           (token_.expired() ? "" : "callbacks or deleters");
  }

  rclcpp::Node::SharedPtr node;
  std::atomic<int> calls{0};

 private:
  std::weak_ptr<rclcpp::node_interfaces::NodeBaseInterface> base_;
  std::weak_ptr<rclcpp::CallbackGroup> group_;
  std::weak_ptr<int> token_;  // of its callbacks and deleters
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::SubscriptionBase::SharedPtr subscription_;
  std::shared_ptr<Foreign> waitable_;
};

class Leaving : public testing::Test {
 protected:
  void spin_until_called() {
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return guest.calls > 0 && host.calls > 0; }));
    spinning.end();
  }
  void remove_guest() {
    executor.remove_node(guest.node);
    guest.go();
  }

  void SetUp() override { executor.add_node(host.node); }

  struct Init {
    Init() { rclcpp::init(0, nullptr); }
    ~Init() { rclcpp::shutdown(); }
    Init(const Init&) = delete;
    Init& operator=(const Init&) = delete;
    Init(Init&&) = delete;
    Init& operator=(Init&&) = delete;
  };
  const Init init_;
  Component guest{"guest"};
  Component host{"host"};
  SchedulingExecutor executor{quiet()};
};

TEST_F(Leaving, aNodeIsGoneThatIsRemovedBeforeSpin) {
  executor.add_node(guest.node);
  remove_guest();
  EXPECT_EQ(guest.left(), "");
}

TEST_F(Leaving, aNodeIsGoneThatIsRemovedAfterSpin) {
  executor.add_node(guest.node);
  spin_until_called();
  const std::size_t both = executor.callbacks().size();
  remove_guest();
  EXPECT_EQ(guest.left(), "");
  EXPECT_EQ(executor.callbacks().size(), both / 2);
  host.calls = 0;
  Spinning again{executor};
  EXPECT_TRUE(eventually([&] { return host.calls > 0; }));
}

TEST_F(Leaving, aNodeIsGoneThatComesAndIsRemovedWhileItSpins) {
  Spinning spinning{executor};
  executor.add_node(guest.node);
  EXPECT_TRUE(eventually([&] { return guest.calls > 0; }));
  remove_guest();
  EXPECT_TRUE(eventually([&] { return guest.left().empty(); })) << guest.left();
  host.calls = 0;
  EXPECT_TRUE(eventually([&] { return host.calls > 0; }));
}

TEST_F(Leaving, aNodeIsGoneThatWasThereBeforeAndIsRemovedWhileItSpins) {
  executor.add_node(guest.node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return guest.calls > 0; }));
  remove_guest();
  EXPECT_TRUE(eventually([&] { return guest.left().empty(); })) << guest.left();
  host.calls = 0;
  EXPECT_TRUE(eventually([&] { return host.calls > 0; }));
}

TEST_F(Leaving, aNodeIsGoneThatACallbackRemoves) {
  bool removed = false;
  const auto remover = host.node->create_wall_timer(1ms, [&] {
    if (guest.calls > 0 && !std::exchange(removed, true)) {
      remove_guest();
    }
  });
  Spinning spinning{executor};
  executor.add_node(guest.node);
  EXPECT_TRUE(eventually([&] { return guest.left().empty(); })) << guest.left();
}

// Nobody looks any more at what has left since.
TEST_F(Leaving, aNodeIsGoneThatACallbackRemovesJustBeforeTheEnd) {
  executor.add_node(guest.node);
  bool removed = false;
  const auto remover = host.node->create_wall_timer(1ms, [&] {
    if (guest.calls > 0 && !std::exchange(removed, true)) {
      executor.remove_node(guest.node);
      executor.cancel();
    }
  });
  executor.spin();
  guest.go();
  EXPECT_EQ(guest.left(), "");
}

TEST_F(Leaving, aNodeIsGoneThatIsDestroyedAfterSpinWithoutBeingRemoved) {
  executor.add_node(guest.node);
  const std::weak_ptr base{guest.node->get_node_base_interface()};
  spin_until_called();
  guest.go();
  EXPECT_TRUE(base.expired());
}

// Nobody tells the executor of it: it finds it at its next look.
TEST_F(Leaving, aNodeIsGoneThatWasThereBeforeAndIsDestroyedWhileItSpins) {
  executor.add_node(guest.node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return guest.calls > 0; }));
  guest.go();
  EXPECT_TRUE(eventually([&] { return guest.left().empty(); })) << guest.left();
  host.calls = 0;
  EXPECT_TRUE(eventually([&] { return host.calls > 0; }));
}

TEST_F(Leaving, aNodeIsGoneThatComesAndIsDestroyedWhileItSpins) {
  Spinning spinning{executor};
  executor.add_node(guest.node);
  EXPECT_TRUE(eventually([&] { return guest.calls > 0; }));
  guest.go();
  EXPECT_TRUE(eventually([&] { return guest.left().empty(); })) << guest.left();
}

TEST_F(Leaving, aGroupIsGoneThatIsRemovedAfterSpin) {
  executor.add_node(guest.node);
  auto group =
      guest.node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
  auto token = std::make_shared<int>(0);
  const std::weak_ptr is_there{token};
  auto timer = guest.node->create_wall_timer(1ms, [token = std::move(token)] {}, group);
  executor.add_callback_group(group, guest.node->get_node_base_interface());
  spin_until_called();
  const std::size_t all = executor.callbacks().size();
  executor.remove_callback_group(group);
  EXPECT_EQ(executor.callbacks().size(), all - 1);
  timer.reset();
  EXPECT_TRUE(is_there.expired());
}

// Removes a node when it goes, which may be when the executor does.
struct Farewell {
  SchedulingExecutor& executor;
  const rclcpp::Node::SharedPtr node;

  explicit Farewell(SchedulingExecutor& from, rclcpp::Node::SharedPtr of)
      : executor{from}, node{std::move(of)} {}
  ~Farewell() { executor.remove_node(node); }
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  Farewell(Farewell&&) = delete;
  Farewell& operator=(Farewell&&) = delete;
};

TEST_F(Leaving, whatGoesWithTheExecutorMayRemoveNodesFromIt) {
  auto has = std::make_shared<rclcpp::Node>("has");
  const auto visitor = std::make_shared<rclcpp::Node>("visitor");
  auto other = std::make_unique<SchedulingExecutor>(quiet());
  auto farewell = std::make_shared<Farewell>(*other, visitor);
  const std::weak_ptr is_there{farewell};
  std::shared_ptr<Foreign> waitable{
      new Foreign, [farewell = std::move(farewell)](const Foreign* of) { delete of; }};
  has->get_node_waitables_interface()->add_waitable(waitable, nullptr);
  other->add_node(visitor);
  const auto is_met = [&other] {
    return std::ranges::any_of(other->callbacks(), [](const std::string& name) {
      return name.starts_with("has.waitable");
    });
  };
  {
    Spinning spinning{*other};
    other->add_node(has);  // the base class does not know it then
    EXPECT_TRUE(eventually([&] { return is_met(); }));
  }
  waitable.reset();
  has.reset();
  EXPECT_FALSE(is_there.expired());  // else it went before
  other.reset();
  EXPECT_TRUE(is_there.expired());
}

}  // namespace
}  // namespace takt::test
