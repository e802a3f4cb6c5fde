// SPDX-License-Identifier: Apache-2.0
//
// What an application's description says of its nodes and topics, for whoever builds them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <takt/application/application.hpp>
#include <takt/os/thread.hpp>
#include <vector>

namespace takt::runner {

// All nodes of the application, in the order of its callbacks.
std::vector<std::string> nodes_of(const application::Application& application);

// The nodes of one process of a robot.
std::vector<std::string> nodes_of(const application::Application& robot, std::size_t process);

// The place of a topic among those of the application. Throws std::runtime_error.
std::size_t place_of(const application::Application& application, const std::string& topic);

// How many subscriptions each topic has in the whole application.
std::map<std::string, std::size_t> readers_of(const application::Application& application);

// Whether somebody outside of the application writes this topic while it is executed, on this host:
// that of its readers. Empty: there is one host.
bool is_fed_on(const application::Application& application, const application::Topic& topic,
               const std::string& host);

// Whether there is such a topic.
bool has_outside(const application::Application& application, const std::string& host = {});

// How the threads of the middleware run in a process.
struct Receivers {
  int priority = os::max_priority;  // SCHED_FIFO
  std::vector<int> cpus = {};       // none: whichever they may use
};

// As its threads that receive are described: nobody knows which of them is which, so all have the
// highest of their priorities. Above all where none is.
Receivers receivers_of(const application::Process& process);

// The devices that callbacks occupy, each once, in their order.
std::vector<std::string> devices_of(const application::Application& application);

// Whether the server of a service is in another process than a callback.
bool is_elsewhere(const application::Application& application, const std::string& service,
                  const application::Callback& client);

// The clients of a server in other processes that wait for it: their places among the callbacks.
std::vector<std::size_t> clients_elsewhere(const application::Application& application,
                                           const application::Callback& server);

// The hosts of a robot's processes, each once, in their order.
std::vector<std::string> hosts_of(const application::Application& robot);

}  // namespace takt::runner
