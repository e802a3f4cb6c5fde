// SPDX-License-Identifier: Apache-2.0
#include "parse_services.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "chain_calls.hpp"
#include "requests.hpp"
#include "robot.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

[[noreturn]] void refuse(const Callback& callback, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError(sched::task_text(callback.task), what, fix);
}

bool writes(const Callback& callback, const std::string& name) {
  return std::ranges::find(callback.task.writes, name) != callback.task.writes.end();
}

// `server`: whose requests may be messages.
bool uses_as_topic(const Callback& callback, const Callback& server) {
  const sched::Task& task = callback.task;
  const std::string& name = server.task.trigger;
  return (!callback.server && task.trigger == name) ||
         (!is_requested(server.task.trigger) && writes(callback, name)) ||
         std::ranges::find(task.reads, name, &sched::Read::topic) != task.reads.end();
}

void check_server(const Application& application, const Callback& server) {
  const std::string service = service_text(server.task.trigger);
  if (server.task.trigger.empty()) {
    refuse(server, "it answers requests, but names no service", "name the service as its trigger");
  }
  const Callback& first = application.callbacks[application.server_of(server.task.trigger)];
  if (&first != &server && first.task.lane_of != server.task.name) {
    refuse(server,
           "it is the second server of service " + service + ", after " +
               sched::name_text(first.task.name),
           "give each service one server");
  }
  if (server.lanes > 1 || server.reentrant) {
    refuse(server, "several of its jobs may run at once, and it is the server of " + service,
           "remove at_once: requests are answered one after the other");
  }
  if (!server.join.empty()) {
    refuse(server, "it belongs to a join, and it is the server of " + service, "remove join");
  }
  if (server.task.parameters.overrun != sched::Overrun::catch_up) {
    refuse(server, "it would drop requests of service " + service + ", whose clients wait for ever",
           "remove overrun: a server answers all requests (catch_up)");
  }
  if (!server.task.parameters.active) {
    refuse(server, "it is not active, and it is the server of " + service, "remove active");
  }
  if ((!is_requested(server.task.trigger) &&
       application.find_topic(server.task.trigger) != nullptr) ||
      std::ranges::any_of(application.callbacks, [&](const Callback& callback) {
        return uses_as_topic(callback, server);
      })) {
    refuse(server, service + " is its service, and a topic", "give the topic another name");
  }
}

std::string server_needed(const Application& application, const std::string& service) {
  std::vector<std::string_view> services;
  for (const Callback& callback : application.callbacks) {
    if (callback.server) {
      services.push_back(callback.task.trigger);
    }
  }
  const std::string nearest{sched::nearest_name(service, services)};
  return (nearest.empty() ? "" : "did you mean " + service_text(nearest) + "? Else ") +
         "give the callback that answers it service: " + service;
}

void check_call(const Application& application, const Callback& client,
                const std::string& service) {
  const std::string call = "it calls service " + service_text(service);
  const std::size_t place = application.server_of(service);
  if (place == application.callbacks.size()) {
    refuse(client, call + ", which has no server", server_needed(application, service));
  }
  const Callback& server = application.callbacks[place];
  if (writes(client, service)) {
    refuse(client, call + ", and requests it without a wait, too",
           "let another callback request it");
  }
  const std::string answers = ", whose server " + sched::name_text(server.task.name);
  if (!client.task.group.empty() && client.task.group == server.task.group) {
    refuse(client,
           call + answers + " is in its own group " + sched::name_text(client.task.group) +
               ": the one waits for the response, the other one for the group (deadlock)",
           "put the server into another group, and take the client out of its group");
  }
  const std::string& policy = policy_of(application, client);
  if (sched::stock_executor(policy)) {
    const bool same = server.process == client.process;
    refuse(client,
           call + answers +
               (same ? " runs in the same thread of executor " + sched::name_text(policy) +
                           ": it starts only when its client has ended (deadlock)"
                     : " is in another process, and executor " + sched::name_text(policy) +
                           " does nothing else meanwhile, which is not analysed yet"),
           "use the executor 'takt', or do not wait: requests in place of call, and response");
  }
  if (application.processes.empty()) {
    return;
  }
  const Link* const link = find_link(application, application.processes[client.process],
                                     application.processes[server.process]);
  if (link != nullptr && link->loss > 0) {
    refuse(client,
           call + answers +
               " is on another host, and the link loses messages: a client that waits for a lost "
               "one waits for ever",
           "do not wait: requests in place of call, or declare a link without loss");
  }
}

// Whether calls lead from one callback back to it. `path`: the callbacks on the way.
void check_circles(const Application& application, std::vector<std::size_t>& path,
                   std::vector<bool>& known) {
  const Callback& client = application.callbacks[path.back()];
  for (const Segment& segment : client.segments) {
    if (segment.call.empty()) {
      continue;
    }
    const std::size_t server = application.server_of(segment.call);
    if (const auto again = std::ranges::find(path, server); again != path.end()) {
      std::string way;
      for (auto one = again; one != path.end(); ++one) {
        way += sched::name_text(application.callbacks[*one].task.name) + " waits for ";
      }
      refuse(client,
             "its call of service " + service_text(segment.call) +
                 " is never answered (deadlock): " + way +
                 sched::name_text(application.callbacks[server].task.name),
             "remove one of these calls");
    }
    if (!known[server]) {
      path.push_back(server);
      check_circles(application, path, known);
      path.pop_back();
    }
  }
  known[path.back()] = true;
}

}  // namespace

void add_services(Application& application) {
  std::vector<Topic> services;
  for (const Callback& callback : application.callbacks) {
    if (callback.server) {
      check_server(application, callback);
      services.push_back({.name = callback.task.trigger, .depth = 0});
    }
  }
  std::vector<bool> known(application.callbacks.size());
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Callback& client = application.callbacks[i];
    std::vector<std::string> called;
    for (const Segment& segment : client.segments) {
      if (!segment.call.empty()) {
        check_call(application, client, segment.call);
        called.push_back(segment.call);
      }
    }
    // A client waits for one response at a time.
    for (Topic& service : services) {
      service.depth += std::ranges::count(called, service.name) > 0 ? 1U : 0U;
    }
    std::vector<std::size_t> path{i};
    check_circles(application, path, known);
  }
  if (!services.empty() && application.strategy) {
    throw sched::ScheduleError("service " + service_text(services.front().name),
                               "calls are not analysed together with scenarios yet",
                               "remove scenarios, default_scenario and switches");
  }
  for (Topic& service : services) {
    service.depth = std::max<std::size_t>(service.depth, 1);
    const auto requests = std::ranges::find(application.topics, service.name, &Topic::name);
    if (requests == application.topics.end()) {
      application.topics.push_back(std::move(service));
    } else {  // one queue for all of them
      requests->depth = std::max(requests->depth, service.depth);
    }
  }
  follow_calls(application);
}

}  // namespace takt::application
