// SPDX-License-Identifier: Apache-2.0
//
// A component container whose nodes are scheduled by Takt: `ros2 component load` and launch files
// use it as any other.
//
// It tells /diagnostics how their callbacks do (takt/rclcpp/diagnostics.hpp).
//
//   component_container_takt [--takt-timing FILE] [--takt-record FILE] [--ros-args …]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/component_manager.hpp>
#include <string_view>
#include <utility>

#include "core_names.hpp"
#include "takt/rclcpp/diagnostics.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"
#include "takt/sched/error.hpp"

namespace takt_rclcpp {
namespace {

using namespace std::chrono_literals;

constexpr int wrong_use = 2;

// A node may be unloaded while one of its callbacks is preempted by that very request. It is
// destroyed when the last one has ended.
class Container final : public rclcpp_components::ComponentManager {
 public:
  explicit Container(const std::shared_ptr<SchedulingExecutor>& executor)
      : rclcpp_components::ComponentManager{executor}, scheduling_{executor} {
    burial_ = create_wall_timer(10ms, [this] { bury(); });
    burial_->cancel();
  }

 protected:
  void remove_node_from_executor(std::uint64_t node_id) override {
    const rclcpp_components::NodeInstanceWrapper node = node_wrappers_[node_id];
    rclcpp_components::ComponentManager::remove_node_from_executor(node_id);
    if (const auto executor = scheduling_.lock()) {
      leaving_.push_back({.node = node, .is_gone = executor->when_gone()});
      burial_->reset();
    }
  }

 private:
  struct Leaving {
    rclcpp_components::NodeInstanceWrapper node;
    std::function<bool()> is_gone;
  };

  void bury() {
    leaving_.remove_if([](const Leaving& one) { return one.is_gone(); });
    if (leaving_.empty()) {
      burial_->cancel();
    }
  }

  const std::weak_ptr<SchedulingExecutor> scheduling_;
  // All in one group: never from two callbacks at once.
  std::list<Leaving> leaving_;
  rclcpp::TimerBase::SharedPtr burial_;
};

int run(int argc, char** argv) {
  const auto is_help = [](std::string_view argument) {
    return argument == "--help" || argument == "-h";
  };
  if (std::any_of(argv + 1, argv + argc, is_help)) {
    std::puts(
        "component_container_takt [--takt-timing FILE] [--takt-record FILE] [--ros-args …]\n"
        "  --takt-timing FILE  priorities, deadlines and more of the callbacks of its nodes\n"
        "  --takt-record FILE  a trace, for ./takt metrics, explain and model");
    return 0;
  }
  try {
    rclcpp::init(argc, argv);
    Options options = Options::of_command_line();
    options.nodes_come_later = true;
    // It goes last, with the libraries of its nodes: what the executor still knows of them is
    // theirs.
    std::shared_ptr<Container> container;
    const auto executor = std::make_shared<SchedulingExecutor>(std::move(options));
    container = std::make_shared<Container>(executor);
    executor->add_node(container);
    const Diagnostics diagnostics{*container, *executor};
    executor->spin();
    rclcpp::shutdown();
    return 0;
  } catch (const sched::ScheduleError& error) {
    std::fprintf(stderr, "component_container_takt: %s\n", error.what());
    rclcpp::shutdown();
    return wrong_use;
  } catch (const std::exception& error) {  // what left a callback, too
    std::fprintf(stderr, "component_container_takt: %s\n", error.what());
    rclcpp::shutdown();
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace takt_rclcpp

int main(int argc, char** argv) {
  return takt_rclcpp::run(argc, argv);
}
