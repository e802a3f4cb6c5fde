// SPDX-License-Identifier: Apache-2.0
#include "described.hpp"

#include <algorithm>
#include <stdexcept>

namespace takt::runner {

namespace {

template <class Chosen>
std::vector<std::string> nodes_where(const application::Application& application,
                                     const Chosen& chosen) {
  std::vector<std::string> nodes;
  for (const application::Callback& callback : application.callbacks) {
    const std::string name = callback.node_name();
    if (chosen(callback) && std::ranges::find(nodes, name) == nodes.end()) {
      nodes.push_back(name);
    }
  }
  return nodes;
}

}  // namespace

std::vector<std::string> nodes_of(const application::Application& application) {
  return nodes_where(application, [](const application::Callback&) { return true; });
}

std::vector<std::string> nodes_of(const application::Application& robot, std::size_t process) {
  return nodes_where(
      robot, [=](const application::Callback& callback) { return callback.process == process; });
}

std::size_t place_of(const application::Application& application, const std::string& topic) {
  const application::Topic* const found = application.find_topic(topic);
  if (found == nullptr) {
    throw std::runtime_error{"topic '" + topic + "' is not described"};
  }
  return static_cast<std::size_t>(found - application.topics.data());
}

std::map<std::string, std::size_t> readers_of(const application::Application& application) {
  std::map<std::string, std::size_t> readers;
  for (const application::Callback& callback : application.callbacks) {
    for (const sched::Read& read : callback.task.reads) {
      ++readers[read.topic];
    }
    if (!callback.task.trigger.empty()) {
      ++readers[callback.task.trigger];
    }
  }
  return readers;
}

bool is_fed_on(const application::Application& application, const application::Topic& topic,
               const std::string& host) {
  if (!topic.external || topic.external_period.count() == 0) {
    return false;
  }
  const auto first =
      std::ranges::find_if(application.callbacks, [&](const application::Callback& callback) {
        return callback.task.trigger == topic.name ||
               std::ranges::find(callback.task.reads, topic.name, &sched::Read::topic) !=
                   callback.task.reads.end();
      });
  return host.empty() || (first != application.callbacks.end() &&
                          application.processes[first->process].host == host);
}

bool has_outside(const application::Application& application, const std::string& host) {
  return std::ranges::any_of(application.topics, [&](const application::Topic& topic) {
    return is_fed_on(application, topic, host);
  });
}

Receivers receivers_of(const application::Process& process) {
  Receivers result;
  bool described = false;
  for (const application::Thread& thread : process.threads) {
    if (!thread.receives.empty()) {
      result.priority = std::max(described ? result.priority : 0, thread.priority);
      result.cpus.push_back(thread.cpu.value_or(process.cpu));
      described = true;
    }
  }
  return result;
}

std::vector<std::string> devices_of(const application::Application& application) {
  std::vector<std::string> devices;
  for (const application::Callback& callback : application.callbacks) {
    for (const application::Segment& segment : callback.segments) {
      if (!segment.device.empty() && std::ranges::find(devices, segment.device) == devices.end()) {
        devices.push_back(segment.device);
      }
    }
  }
  return devices;
}

bool is_elsewhere(const application::Application& application, const std::string& service,
                  const application::Callback& client) {
  return application.callbacks.at(application.server_of(service)).process != client.process;
}

std::vector<std::size_t> clients_elsewhere(const application::Application& application,
                                           const application::Callback& server) {
  std::vector<std::size_t> clients;
  for (std::size_t place = 0; server.server && place < application.callbacks.size(); ++place) {
    const application::Callback& client = application.callbacks[place];
    if (client.process != server.process &&
        std::ranges::find(client.segments, server.task.trigger, &application::Segment::call) !=
            client.segments.end()) {
      clients.push_back(place);
    }
  }
  return clients;
}

std::vector<std::string> hosts_of(const application::Application& robot) {
  std::vector<std::string> hosts;
  for (const application::Process& process : robot.processes) {
    if (std::ranges::find(hosts, process.host) == hosts.end()) {
      hosts.push_back(process.host);
    }
  }
  return hosts;
}

}  // namespace takt::runner
