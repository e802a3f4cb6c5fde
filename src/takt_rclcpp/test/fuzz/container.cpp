// SPDX-License-Identifier: Apache-2.0
//
// The component container as a process: two clients load and unload nodes of all kinds at once, and
// it is interrupted whenever they stop. A sanitizer in it ends it with an exit code of its own.
#include <unistd.h>

#include <composition_interfaces/srv/list_nodes.hpp>
#include <composition_interfaces/srv/load_node.hpp>
#include <composition_interfaces/srv/unload_node.hpp>
#include <filesystem>
#include <fstream>

#include "../process.hpp"
#include "fuzz.hpp"

namespace takt::fuzz {
namespace {

using composition_interfaces::srv::ListNodes;
using composition_interfaces::srv::LoadNode;
using composition_interfaces::srv::UnloadNode;

class Operator {
 public:
  Operator(const std::string& container, int number, const test::Process& process)
      : process_{process},
        node_{std::make_shared<rclcpp::Node>("operator" + std::to_string(number),
                                             rclcpp::NodeOptions{}.context(context_))},
        loads_{node_->create_client<LoadNode>("/" + container + "/_container/load_node")},
        unloads_{node_->create_client<UnloadNode>("/" + container + "/_container/unload_node")},
        lists_{node_->create_client<ListNodes>("/" + container + "/_container/list_nodes")},
        executor_{[this] {
          rclcpp::ExecutorOptions options;
          options.context = context_;
          return options;
        }()} {
    executor_.add_node(node_);
  }

  void operate(Random& random) {
    for (std::uint64_t left = 6 + below(random, 20); left > 0; --left) {
      const std::uint64_t what = below(random, 8);
      if (what < 4) {
        load(random);
      } else if (what < 7 && !loaded_.empty()) {
        auto request = std::make_shared<UnloadNode::Request>();
        request->unique_id = loaded_.back();
        loaded_.pop_back();
        check(call<UnloadNode>(unloads_, request)->success, "a node cannot be unloaded");
      } else {
        call<ListNodes>(lists_, std::make_shared<ListNodes::Request>());
      }
    }
  }

 private:
  void load(Random& random) {
    static const std::array<const char*, 5> plugins{"docking::Radar", "docking::Guard",
                                                    "components::Busy", "components::Plain",
                                                    "components::Broken"};
    auto request = std::make_shared<LoadNode::Request>();
    request->package_name = "takt_rclcpp_test";
    request->plugin_name = plugins.at(below(random, plugins.size()));
    request->node_name = std::string{node_->get_name()} + "_" + std::to_string(names_++);
    if (one_in(random, 2)) {
      request->extra_arguments.push_back(
          rclcpp::Parameter("use_intra_process_comms", true).to_parameter_msg());
    }
    const bool is_broken = request->plugin_name == "components::Broken";
    const auto answer = call<LoadNode>(loads_, request);
    check(answer->success == !is_broken, "a node cannot be loaded: " + answer->error_message);
    if (answer->success) {
      loaded_.push_back(answer->unique_id);
    }
  }

  template <class Service>
  typename Service::Response::SharedPtr call(
      const typename rclcpp::Client<Service>::SharedPtr& client,
      const typename Service::Request::SharedPtr& request) {
    check(client->wait_for_service(patience), "the container is not found: " + process_.output());
    auto answer = client->async_send_request(request);
    check(
        executor_.spin_until_future_complete(answer, patience) == rclcpp::FutureReturnCode::SUCCESS,
        "the container does not answer: " + process_.output());
    return answer.get();
  }

  const test::Process& process_;
  const rclcpp::Context::SharedPtr context_ = make_context();
  const rclcpp::Node::SharedPtr node_;
  const rclcpp::Client<LoadNode>::SharedPtr loads_;
  const rclcpp::Client<UnloadNode>::SharedPtr unloads_;
  const rclcpp::Client<ListNodes>::SharedPtr lists_;
  rclcpp::executors::SingleThreadedExecutor executor_;
  std::vector<std::uint64_t> loaded_;
  int names_ = 0;
};

}  // namespace

void container(Random& random) {
  const std::string name = "container" + std::to_string(getpid());
  const auto output = std::filesystem::temp_directory_path() / ("takt." + name + ".output");
  // Busy components want all of a core: the requests come before them.
  const auto timing = std::filesystem::temp_directory_path() / ("takt." + name + ".timing.yaml");
  std::ofstream{timing} << "callbacks:\n  - {kind: service, priority: 90}\n";
  test::Process process{
      {CONTAINER, "--takt-timing", timing, "--ros-args", "-r", "__node:=" + name}, output, PREFIX};
  {
    // One after the other: rclcpp makes contexts under no lock.
    std::vector<std::unique_ptr<Operator>> all;
    for (int number = 0; number < 2; ++number) {
      all.push_back(std::make_unique<Operator>(name, number, process));
    }
    std::vector<std::thread> operators;
    for (const auto& each : all) {
      operators.emplace_back(
          [&one = *each, own = Random{random()}]() mutable { one.operate(own); });
    }
    for (std::thread& each : operators) {
      each.join();
    }
  }
  const int code = process.end();
  check(code == 0,
        "the container ends with exit code " + std::to_string(code) + ": " + process.output());
  std::filesystem::remove(output);
  std::filesystem::remove(timing);
}

}  // namespace takt::fuzz
