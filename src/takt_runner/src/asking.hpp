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

// Who asks is at the beginning of the payload of a request: its place among the callbacks, from 1.
using Asker = std::uint32_t;
inline constexpr Asker nobody = 0;

// The payload is as long as that, at least.
inline void sign(takt_interfaces::msg::Sample& request, Asker asker) noexcept {
  std::memcpy(request.payload.data(), &asker, sizeof asker);
}

inline Asker asker_of(const takt_interfaces::msg::Sample& request) noexcept {
  Asker asker = nobody;
  if (request.payload.size() >= sizeof asker) {
    std::memcpy(&asker, request.payload.data(), sizeof asker);
  }
  return asker;
}

inline std::string response_topic(const std::string& service, Asker asker) {
  return service + "/_response/client" + std::to_string(asker);
}

// Messages that wait there: its client has one request at a time.
inline constexpr std::size_t response_depth = 2;

// What a server sends to clients in other processes, by publishers of takt_rcl or rclcpp.
template <class Publisher>
class Responses {
 public:
  void add(Asker client, std::shared_ptr<Publisher> publisher) {
    clients_.emplace_back(client, std::move(publisher));
  }

  // Nothing to clients of its own process, or who do not wait.
  void answer(const takt_interfaces::msg::Sample& request) {
    const Asker asker = clients_.empty() ? nobody : asker_of(request);
    for (const auto& [client, publisher] : clients_) {
      if (client == asker) {
        response_.sequence = request.sequence;
        static_cast<void>(publisher->publish(response_));
      }
    }
  }

  [[nodiscard]] const std::vector<std::pair<Asker, std::shared_ptr<Publisher>>>& clients()
      const noexcept {
    return clients_;
  }

 private:
  std::vector<std::pair<Asker, std::shared_ptr<Publisher>>> clients_;
  takt_interfaces::msg::Sample response_;
};

}  // namespace takt::runner
