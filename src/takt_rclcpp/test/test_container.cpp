// SPDX-License-Identifier: Apache-2.0
//
// The container and the examples as processes, led as `ros2 component` does it.
#include <composition_interfaces/srv/list_nodes.hpp>
#include <composition_interfaces/srv/load_node.hpp>
#include <composition_interfaces/srv/unload_node.hpp>
#include <fstream>
#include <map>
#include <vector>

#include "process.hpp"
#include "support.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"

namespace takt::test {
namespace {

using composition_interfaces::srv::ListNodes;
using composition_interfaces::srv::LoadNode;
using composition_interfaces::srv::UnloadNode;

class Programs : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    node_ = std::make_shared<rclcpp::Node>("operator");
    const std::string services = "/" + container() + "/_container/";
    loads_ = node_->create_client<LoadNode>(services + "load_node");
    unloads_ = node_->create_client<UnloadNode>(services + "unload_node");
    lists_ = node_->create_client<ListNodes>(services + "list_nodes");
  }
  void TearDown() override {
    loads_.reset();
    unloads_.reset();
    lists_.reset();
    node_.reset();
    WithContext::TearDown();
  }

  static std::string container() { return unique("container"); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] Process start_container(std::vector<std::string> arguments) const {
    std::vector<std::string> all{CONTAINER};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"--ros-args", "-r", "__node:=" + container()});
    return Process{all, file("output"), PREFIX};
  }

  template <class Service>
  typename Service::Response::SharedPtr call(
      const typename rclcpp::Client<Service>::SharedPtr& client,
      const typename Service::Request::SharedPtr& request) {
    if (!client->wait_for_service(150s)) {
      return nullptr;
    }
    auto answer = client->async_send_request(request);
    if (rclcpp::spin_until_future_complete(node_, answer, 150s) !=
        rclcpp::FutureReturnCode::SUCCESS) {
      return nullptr;
    }
    return answer.get();
  }
  LoadNode::Response::SharedPtr load(const std::string& plugin, bool pointers = false,
                                     const std::string& name = "") {
    auto request = std::make_shared<LoadNode::Request>();
    request->package_name = "takt_rclcpp_test";
    request->plugin_name = plugin;
    request->node_name = name;
    if (pointers) {
      request->extra_arguments.push_back(
          rclcpp::Parameter("use_intra_process_comms", true).to_parameter_msg());
    }
    return call<LoadNode>(loads_, request);
  }
  UnloadNode::Response::SharedPtr unload(std::uint64_t id) {
    auto request = std::make_shared<UnloadNode::Request>();
    request->unique_id = id;
    return call<UnloadNode>(unloads_, request);
  }
  ListNodes::Response::SharedPtr list() {
    return call<ListNodes>(lists_, std::make_shared<ListNodes::Request>());
  }

 private:
  TemporaryFolder folder_;
  rclcpp::Node::SharedPtr node_;
  rclcpp::Client<LoadNode>::SharedPtr loads_;
  rclcpp::Client<UnloadNode>::SharedPtr unloads_;
  rclcpp::Client<ListNodes>::SharedPtr lists_;
};

// By task: of its releases, how long after them they were due.
std::map<std::string, std::chrono::nanoseconds> deadlines(const trace::Trace& trace) {
  std::map<std::string, std::chrono::nanoseconds> found;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::release && event.value != trace::no_deadline) {
      found[trace.tasks.at(event.task)] = std::chrono::nanoseconds{event.value - event.time};
    }
  }
  return found;
}

TEST_F(Programs, nodesThatAreLoadedWhileItSpinsGetTheirTiming) {
  const std::string record = file("container.trace");
  Process process = start_container({"--takt-timing", TIMING, "--takt-record", record});
  const auto radar = load("docking::Radar", true);
  ASSERT_NE(radar, nullptr) << process.output();
  EXPECT_TRUE(radar->success) << radar->error_message;
  EXPECT_EQ(radar->full_node_name, "/radar");
  const auto guard = load("docking::Guard", true);
  ASSERT_NE(guard, nullptr) << process.output();
  EXPECT_TRUE(guard->success) << guard->error_message;
  const auto both = list();
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->full_node_names, (std::vector<std::string>{"/radar", "/guard"}));
  EXPECT_TRUE(eventually([&] { return process.has_said("braked 50 times"); })) << process.output();
  const auto gone = unload(radar->unique_id);
  ASSERT_NE(gone, nullptr);
  EXPECT_TRUE(gone->success);
  EXPECT_FALSE(unload(radar->unique_id)->success);
  EXPECT_EQ(list()->full_node_names, std::vector<std::string>{"/guard"});
  const auto again = load("docking::Radar", true);
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(again->success) << again->error_message;
  EXPECT_TRUE(eventually([&] { return process.has_said("braked 150 times"); }));
  EXPECT_EQ(process.end(), 0) << process.output();
  const auto due = deadlines(trace::read_trace(record));
  ASSERT_TRUE(due.contains("radar.timer0"));
  EXPECT_EQ(due.at("radar.timer0"), 5ms);
  ASSERT_TRUE(due.contains("guard.timer0"));
  EXPECT_EQ(due.at("guard.timer0"), 20ms);
}

// The request preempts or outlives a callback of the node: that one still has its node.
TEST_F(Programs, aNodeIsDestroyedWhenItsCallbacksHaveEnded) {
  const std::string timing = file("busy.timing.yaml");
  std::ofstream{timing} << "callbacks:\n  - {node: /busy, kind: timer, priority: 2}\n"
                           "  - {kind: service, priority: 90}\n";
  Process process = start_container({"--takt-timing", timing});
  for (int round = 0; round < 5; ++round) {
    const auto busy = load("components::Busy");
    ASSERT_NE(busy, nullptr) << process.output();
    ASSERT_TRUE(busy->success) << busy->error_message;
    std::this_thread::sleep_for(50ms);  // it is in its callback nearly always
    ASSERT_TRUE(unload(busy->unique_id)->success);
  }
  EXPECT_TRUE(eventually([&] {
    const std::string output = process.output();
    std::size_t ends = 0;
    for (std::size_t at = 0; (at = output.find("destroyed in peace", at)) != std::string::npos;
         ++at) {
      ++ends;
    }
    return ends == 5;
  })) << process.output();
  EXPECT_FALSE(process.has_said("destroyed while it runs"));
  EXPECT_EQ(process.end(), 0);
}

TEST_F(Programs, moreNodesThanAThousandTasksAreLoaded) {
  Process process = start_container({});
  for (int number = 0; number < 100; ++number) {
    const auto loaded = load("components::Plain", false, "plain" + std::to_string(number));
    ASSERT_NE(loaded, nullptr) << "node " << number << ": " << process.output();
    ASSERT_TRUE(loaded->success) << loaded->error_message;
  }
  for (int number = 0; number < 100; ++number) {
    EXPECT_TRUE(eventually([&] {
      return process.has_said("plain" + std::to_string(number) + " runs");
    })) << "node "
        << number << ": " << process.output();
  }
  EXPECT_EQ(process.end(), 0) << process.output();
}

// As launch files do it: the container first, its components when it answers.
TEST_F(Programs, aContainerThatIsEmptyForAWhileHasNothingToReportOfItsTiming) {
  Process process = start_container({"--takt-timing", TIMING});
  ASSERT_NE(list(), nullptr) << process.output();
  std::this_thread::sleep_for(2500ms);
  EXPECT_TRUE(load("docking::Radar")->success);
  EXPECT_TRUE(load("docking::Guard")->success);
  EXPECT_TRUE(eventually([&] { return process.has_said("braked 50 times"); })) << process.output();
  EXPECT_EQ(process.end(), 0);
  EXPECT_FALSE(process.has_said("matches nothing")) << process.output();
}

TEST_F(Programs, whatCannotBeLoadedIsReportedAndHarmsNothing) {
  Process process = start_container({});
  const auto broken = load("components::Broken");
  ASSERT_NE(broken, nullptr) << process.output();
  EXPECT_FALSE(broken->success);
  EXPECT_NE(broken->error_message.find("no such camera"), std::string::npos);
  EXPECT_FALSE(load("components::Nobody")->success);
  EXPECT_TRUE(load("docking::Radar")->success);
  EXPECT_EQ(process.end(), 0) << process.output();
}

TEST_F(Programs, aWrongCommandLineIsRefusedInALine) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& said) {
    Process process = start_container(arguments);
    EXPECT_EQ(process.wait(), 2);
    EXPECT_TRUE(process.has_said("component_container_takt: " + said)) << process.output();
  };
  refused({"--takt-timing", file("none.yaml")}, file("none.yaml") + ": there is no such file.");
  refused({"--takt-timing"}, "the command line: --takt-timing has no file behind it.");
  refused({"--takt-timng", TIMING}, "the command line: unknown argument --takt-timng.");
  std::ofstream{file("bad.yaml")} << "callbacks:\n  - {node: /a, priority: 100}\n";
  refused({"--takt-timing", file("bad.yaml")},
          file("bad.yaml") + ":2: '100' is no whole number from 1 to 98.");
}

TEST_F(Programs, theExampleRunsBothNodesInOneProcess) {
  Process process{{DOCKING, "--takt-timing", TIMING, "--takt-record", file("docking.trace")},
                  file("output"),
                  PREFIX};
  EXPECT_TRUE(eventually([&] { return process.has_said("braked 50 times"); })) << process.output();
  EXPECT_EQ(process.end(), 0) << process.output();
  EXPECT_TRUE(process.has_said("radar.timer0: ")) << process.output();
  const auto due = deadlines(trace::read_trace(file("docking.trace")));
  ASSERT_TRUE(due.contains("radar.timer0"));
  EXPECT_EQ(due.at("radar.timer0"), 5ms);
}

}  // namespace
}  // namespace takt::test
