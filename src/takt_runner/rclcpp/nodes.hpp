// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of an application as plain rclcpp nodes. Callbacks that exclude each other, and
// those of a node that hear the same topic, share a mutually exclusive callback group; every other
// has one of its own, together with the subscriptions whose newest message it reads. That of a
// reentrant callback is Reentrant. Messages go through the middleware.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <takt/sched/join.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <vector>

#include "common.hpp"
#include "job_trace.hpp"
#include "outside.hpp"
#include "responses.hpp"
#include "settings.hpp"
#include "work.hpp"

namespace takt::runner {

using Message = takt_interfaces::msg::Sample;

class NodeOutlet {
 public:
  // `reentrant`: several jobs may publish at once.
  NodeOutlet(rclcpp::Node& node, const Execution& execution, Common& common, JobTrace& trace,
             const std::string& topic, bool reentrant = false);

  void publish(os::TimePoint sampled);
  // Sleeps until it has so many readers. Throws std::runtime_error after a minute.
  void wait_for(std::size_t readers, const os::StopFlag& stop) const;
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }

 private:
  std::string topic_;
  rclcpp::Publisher<Message>::SharedPtr publisher_;
  Common* common_;
  std::size_t place_;
  std::uint16_t number_;
  Message message_;
  std::unique_ptr<std::mutex> publishing_;  // null: one job at a time publishes
};

// A subscription that keeps its newest message for a callback of the same group.
struct NodeInlet {
  rclcpp::Subscription<Message>::SharedPtr subscription;
  std::shared_ptr<const Message> newest;
  std::uint16_t number{trace::no_topic};
  TracedTask task;
};

struct NodeMember {
  NodeMember(const application::Callback& callback, std::uint64_t seed, std::size_t place)
      : description{&callback}, times{callback.execution, seed, place} {}

  void compute_and_write(std::uint64_t job, os::TimePoint sampled);

  const application::Callback* description;
  DrawnTimes times;
  TracedTask task;
  rclcpp::CallbackGroup::SharedPtr group;
  std::deque<NodeInlet> reads;
  std::vector<NodeOutlet> writes;
  std::vector<DrawnMessages> counts;  // messages of one job on each of them
  rclcpp::TimerBase::SharedPtr timer;
  rclcpp::Subscription<Message>::SharedPtr trigger;
  std::uint16_t trigger_number{trace::no_topic};
  Responses<rclcpp::Publisher<Message>> responses{};  // of a server, to clients elsewhere
  sched::Join* join{nullptr};                         // with which it publishes; null: alone
  std::size_t input{0};                               // its number there
};

class Nodes {
 public:
  // Those of these names. Throws sched::ScheduleError for a group over several nodes, which rclcpp
  // does not have, unless they are of a robot.
  Nodes(const Execution& execution, Common& common, JobTrace& trace,
        const std::vector<std::string>& nodes);

  [[nodiscard]] const std::map<std::string, rclcpp::Node::SharedPtr>& all() const noexcept {
    return nodes_;
  }
  [[nodiscard]] const std::deque<NodeMember>& members() const noexcept { return members_; }
  void wait_for_readers(const os::StopFlag& stop) const;
  // The first call of each timer: start + offset. While no executor spins.
  void begin_at(os::TimePoint start);

 private:
  void add(const Execution& execution, Common& common, JobTrace& trace, NodeMember& member,
           const std::string& group);
  static void add_responses(const Execution& execution, NodeMember& member, rclcpp::Node& node);

  std::map<std::string, std::size_t> readers_;
  std::map<std::string, rclcpp::Node::SharedPtr> nodes_;
  std::map<std::string, rclcpp::CallbackGroup::SharedPtr> groups_;
  std::deque<sched::Join> joins_;
  std::deque<NodeMember> members_;  // their callbacks keep their addresses
};

// The world outside, which writes topics with periods of their own.
class NodeOutside {
 public:
  NodeOutside(const Execution& execution, Common& common, JobTrace& trace);
  void wait_for_readers(const os::StopFlag& stop) const;
  // Until `end`, or until a stop is requested, on the calling thread.
  void feed(os::TimePoint start, os::TimePoint end, const os::StopFlag& stop,
            trace::Recorder recorder);

 private:
  struct Topic {
    NodeOutlet outlet;
    Burst burst;
    std::size_t readers;
  };
  rclcpp::Node::SharedPtr node_;
  std::vector<Topic> topics_;
};

}  // namespace takt::runner
