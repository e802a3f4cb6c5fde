// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of an application as entities of ROS: nodes, timers, publishers, subscriptions. The
// three approaches build the same ones and differ in who executes them.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <takt/os/thread.hpp>
#include <takt/rcl/context.hpp>
#include <takt/rcl/node.hpp>
#include <takt/sched/join.hpp>
#include <takt/trace/recorder.hpp>
#include <vector>

#include "common.hpp"
#include "data.hpp"
#include "described.hpp"
#include "held_locks.hpp"
#include "outside.hpp"
#include "services.hpp"
#include "settings.hpp"
#include "work.hpp"

namespace takt::runner {

// How messages reach their readers.
enum class Delivery : std::uint8_t {
  before_the_callback,  // by the executor, by pointer
  own_callbacks,        // each read topic has a callback that keeps the newest, through DDS
};

// A call of a callback: its request, and the wait for the response.
struct MemberCall {
  // Whether the response came.
  bool ask(os::TimePoint sampled) noexcept;

  Outlet request;
  Service::Client* client{nullptr};                    // of a server in this process
  std::unique_ptr<ResponseInlet> from_elsewhere = {};  // of one in another process
};

struct Member {
  Member(const application::Callback& callback, std::uint64_t seed, std::size_t place)
      : description{&callback},
        times{callback.execution, seed, place},
        sections{callback, seed, place},
        requests{callback, seed, place} {}

  const application::Callback* description;
  DrawnTimes times;
  DrawnSections sections;
  DrawnRequests requests;
  const Common* common{nullptr};
  HeldLocks* locks{nullptr};  // of the application, by index
  std::vector<Inlet> reads;
  std::vector<Outlet> writes;
  std::vector<DrawnMessages> counts;                // messages of one job on each of them
  std::vector<std::optional<MemberCall>> calls;     // by wait; empty: it calls no service
  std::vector<std::atomic<std::int64_t>*> devices;  // by wait; null: none; empty: it occupies none
  Service* service{nullptr};                        // that it answers
  Responses<Publisher<Message>> responses{};        // to clients in other processes
  std::shared_ptr<Timer> timer;                     // of a timer callback
  std::shared_ptr<Subscription<Message>> trigger;   // of a message callback
  std::uint16_t trigger_number{trace::no_topic};
  std::uint64_t messages{0};   // that it was called with
  sched::Join* join{nullptr};  // with which it publishes; null: alone
  std::size_t input{0};        // its number there
  bool cut{false};             // its job waited for a response when the execution ended
  // What it computes less because publishing is a part of its execution time: what its last job
  // has published for. Of a driver.
  nanoseconds published_for{0};

  void on_timer(const sched::Job& job) noexcept;
  void on_message(const Message& message) noexcept;

 private:
  void compute_and_write(std::uint64_t job, os::TimePoint sampled) noexcept;
  nanoseconds pass_steps(nanoseconds begin, std::uint64_t job, nanoseconds time,
                         os::TimePoint sampled) noexcept;
  void wait(std::size_t turn, std::uint64_t job, nanoseconds time, os::TimePoint sampled) noexcept;
};

class Members {
 public:
  // The callbacks of these nodes. Throws RclError.
  Members(const Execution& execution, Common& common, Context context,
          const std::vector<std::string>& nodes, Delivery delivery);

  [[nodiscard]] std::deque<Member>& all() noexcept { return members_; }

  // Asks for the number of each topic in the trace, by its full name. Before the first callback.
  void number_topics(const std::function<std::uint16_t(const std::string&)>& number_of);

  // Sleeps until every publisher has its readers. Throws std::runtime_error after a minute, or when
  // a stop is requested.
  void wait_for_readers(const os::StopFlag& stop) const;

  // Clients do not wait for responses any more, so that their jobs end.
  void end_calls() noexcept;

 private:
  static void add_devices(const Execution& execution, Common& common, Member& member);
  void add_responses(const Execution& execution, Member& member, const Node& own);
  void add_calls(const Execution& execution, Common& common, Member& member, const Node& own);
  void add(const Execution& execution, Common& common, const application::Callback& callback,
           std::size_t place);
  Node& node(const std::string& name);

  Context context_;
  Delivery delivery_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, std::size_t> readers_;  // of the whole application, by topic
  std::deque<sched::Join> joins_;
  executor::RequestOrder order_;  // of all requests for locks across cores
  HeldLocks locks_;
  Services services_;
  std::deque<Member> members_;  // their callbacks keep their addresses
};

// The world outside: writes the topics that the application declares as external, each with its
// period, from a thread above all others.
class Feeder {
 public:
  Feeder(const Execution& execution, Common& common, const Context& context, Delivery delivery);

  [[nodiscard]] bool needed() const noexcept { return !outside_.empty(); }
  void number_topics(const std::function<std::uint16_t(const std::string&)>& number_of);
  void wait_for_readers(const os::StopFlag& stop) const;
  // Feeds until `end`, or until a stop is requested, on the calling thread.
  void feed(os::TimePoint start, os::TimePoint end, const os::StopFlag& stop,
            trace::Recorder recorder) noexcept;

 private:
  struct OutsideTopic {
    Outlet outlet;
    Burst burst;
    std::size_t readers;
  };
  std::vector<Node> node_;  // one, where it is needed
  std::vector<OutsideTopic> outside_;
};

}  // namespace takt::runner
