// SPDX-License-Identifier: Apache-2.0
//
// Calls of services between processes: a request says which client asks, and the response is a
// message on a topic of that client alone, so that those to others never replace it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <takt_interfaces/msg/sample.hpp>
#include <utility>
#include <vector>

namespace takt::runner {

// Of a client: its place among the callbacks, from 1. It is at the beginning of a request's
// payload.
using ClientNumber = std::uint32_t;
inline constexpr ClientNumber no_client = 0;

// The payload is as long as that, at least.
inline void sign(takt_interfaces::msg::Sample& request, ClientNumber client) noexcept {
  std::memcpy(request.payload.data(), &client, sizeof client);
}

inline ClientNumber client_of(const takt_interfaces::msg::Sample& request) noexcept {
  ClientNumber client = no_client;
  if (request.payload.size() >= sizeof client) {
    std::memcpy(&client, request.payload.data(), sizeof client);
  }
  return client;
}

inline std::string response_topic(const std::string& service, ClientNumber client) {
  return service + "/_response/client" + std::to_string(client);
}

// Messages that wait there: its client has one request at a time.
inline constexpr std::size_t response_depth = 2;

// What a server sends to clients in other processes, by publishers of takt_rcl or rclcpp.
template <class Publisher>
class Responses {
 public:
  void add(ClientNumber client, std::shared_ptr<Publisher> publisher) {
    clients_.emplace_back(client, std::move(publisher));
  }

  // Nothing to clients of its own process, or who do not wait.
  void answer(const takt_interfaces::msg::Sample& request) {
    const ClientNumber waiting = clients_.empty() ? no_client : client_of(request);
    for (const auto& [client, publisher] : clients_) {
      if (client == waiting) {
        response_.sequence = request.sequence;
        static_cast<void>(publisher->publish(response_));
      }
    }
  }

  [[nodiscard]] const std::vector<std::pair<ClientNumber, std::shared_ptr<Publisher>>>& clients()
      const noexcept {
    return clients_;
  }

 private:
  std::vector<std::pair<ClientNumber, std::shared_ptr<Publisher>>> clients_;
  takt_interfaces::msg::Sample response_;
};

}  // namespace takt::runner
