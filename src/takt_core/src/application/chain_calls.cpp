// SPDX-License-Identifier: Apache-2.0
#include "chain_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../sched/text.hpp"
#include "requests.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

bool calls_of(const Segment& segment, const Callback& server) {
  return server.server && !segment.call.empty() && segment.call == server.task.trigger;
}

bool reads(const Callback& reader, const Callback& writer) {
  return std::ranges::any_of(writer.task.writes, [&](const std::string& topic) {
    return reader.task.trigger == topic ||
           std::ranges::find(reader.task.reads, topic, &sched::Read::topic) !=
               reader.task.reads.end();
  });
}

// One chain, callback by callback.
class Way {
 public:
  Way(const Application& application, const Chain& chain) : chain_(chain) {
    for (const std::string& name : chain.callbacks) {
      static const Callback driver;  // a thread beside the executors calls nobody
      const auto found = std::ranges::find_if(application.callbacks, [&](const Callback& callback) {
        return callback.task.name == name;
      });
      take(name, found == application.callbacks.end() ? driver : *found);
    }
  }

  // The callbacks without those from which it has come back.
  [[nodiscard]] std::vector<std::string> callbacks() const {
    std::vector<std::string> names;
    names.reserve(steps_.size());
    for (const Step& step : steps_) {
      names.push_back(step.name);
    }
    return names;
  }

 private:
  struct Step {
    std::string name = {};
    const Callback* callback = nullptr;
    bool called = false;    // by the one before
    std::size_t next = 0;   // the first of its segments that the chain has not passed
    bool answered = false;  // it has called one, and the chain has come back
  };

  [[noreturn]] void refuse(const std::string& what, const std::string& fix) const {
    throw sched::ScheduleError("chain " + sched::name_text(chain_.name), what, fix);
  }

  void take(const std::string& name, const Callback& callback) {
    if (steps_.size() > 1 && steps_.back().called &&
        steps_[steps_.size() - 2].callback == &callback) {
      steps_.pop_back();
      steps_.back().answered = true;
      return;
    }
    bool called = false;
    if (!steps_.empty()) {
      Step& before = steps_.back();
      called = calls(*before.callback, callback);
      if (called) {
        pass_call(before, callback);
      } else {
        leave(before, callback);
      }
    }
    steps_.push_back({.name = name, .callback = &callback, .called = called});
  }

  void pass_call(Step& client, const Callback& server) const {
    const std::vector<Segment>& segments = client.callback->segments;
    const auto call =
        std::find_if(segments.begin() + static_cast<std::ptrdiff_t>(client.next), segments.end(),
                     [&](const Segment& segment) { return calls_of(segment, server); });
    if (call == segments.end()) {
      refuse("its callback " + sched::name_text(client.callback->task.name) + " calls service " +
                 service_text(server.task.trigger) +
                 " before what the chain has it call before, so no data goes that way",
             "name the servers in the order of its segments");
    }
    client.next = static_cast<std::size_t>(call - segments.begin()) + 1;
  }

  // By a message.
  void leave(const Step& writer, const Callback& reader) const {
    const std::string name = sched::name_text(writer.callback->task.name);
    if (calls(reader, *writer.callback) && !reads(reader, *writer.callback)) {
      const std::string client = sched::name_text(reader.task.name);
      refuse("it comes to " + client + " with a response of " + name + ", which " + client +
                 " has not called in this chain",
             "name " + client + " before " + name +
                 ", too: the callback that calls, the server, "
                 "the callback again");
    }
    if (writer.answered && writer.callback->publishes_anywhere) {
      refuse(
          "its callback " + name + " may publish before it has the response (publishes: anywhere)",
          "remove publishes, or leave the server out of the chain");
    }
  }

  const Chain& chain_;
  std::vector<Step> steps_;
};

}  // namespace

bool calls(const Callback& client, const Callback& server) {
  return !reads(server, client) &&
         std::ranges::any_of(client.segments,
                             [&](const Segment& segment) { return calls_of(segment, server); });
}

void follow_calls(Application& application) {
  if (std::ranges::none_of(application.callbacks, &Callback::calls)) {
    return;
  }
  for (Chain& chain : application.chains) {
    std::vector<std::string> callbacks = Way{application, chain}.callbacks();
    if (callbacks != chain.callbacks) {
      chain.described = std::exchange(chain.callbacks, std::move(callbacks));
    }
  }
}

}  // namespace takt::application
