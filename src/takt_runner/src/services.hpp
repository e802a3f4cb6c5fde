// SPDX-License-Identifier: Apache-2.0
//
// Calls of services: a request is a message to the server, and the client waits until the server
// has ended the job for it: where both are in one process for an event, else for a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <takt/os/event.hpp>
#include <takt/rcl/node.hpp>

#include "responses.hpp"

namespace takt::runner {

// The clients of one service, each with a request or none.
class Service {
 public:
  class Client {
   public:
    explicit Client(const std::atomic<bool>& over) : over_{&over} {}

    // Before the message of this number is published.
    void ask(std::int64_t number) noexcept { request_.store(number); }

    // Sleeps until it is answered, or all is over: false.
    bool wait() noexcept {
      if (!over_->load()) {
        answered_.wait();
      }
      return request_.load() == none;
    }

   private:
    friend class Service;
    static constexpr std::int64_t none = -1;

    const std::atomic<bool>* over_;
    std::atomic<std::int64_t> request_{none};
    os::ThreadEvent answered_;
  };

  // Before anybody asks.
  Client& add_client(const std::atomic<bool>& over) { return clients_.emplace_back(over); }

  // All is over.
  void end() noexcept {
    for (Client& client : clients_) {
      client.answered_.notify();
    }
  }

  // The server has ended its job for the message of this number.
  void answer(std::int64_t number) noexcept {
    for (Client& client : clients_) {
      if (std::int64_t asked = number;
          client.request_.compare_exchange_strong(asked, Client::none)) {
        client.answered_.notify();
      }
    }
  }

 private:
  std::deque<Client> clients_;
};

// What a client waits for whose server is in another process: it takes the response on its own
// thread, where the middleware only wakes it.
class ResponseInlet {
 public:
  ResponseInlet(const Node& node, const std::string& topic, const std::atomic<bool>& over)
      : over_{&over},
        subscription_{node.create_subscription<takt_interfaces::msg::Sample>(
            topic, QoS{response_depth}.reliable())} {
    subscription_->set_on_new_message_callback([this](std::size_t) noexcept { arrived_.notify(); });
  }

  // Sleeps until the response to the request of this number is there, or all is over: false.
  bool wait_for(std::int64_t number) noexcept {
    while (!over_->load()) {
      while (subscription_->take(response_, info_)) {
        if (response_.sequence == static_cast<std::uint64_t>(number)) {
          return true;
        }
      }
      arrived_.wait();
    }
    return false;
  }

  // All is over.
  void end() noexcept { arrived_.notify(); }

 private:
  const std::atomic<bool>* over_;
  os::ThreadEvent arrived_;  // outlives the subscription, which notifies it
  std::shared_ptr<Subscription<takt_interfaces::msg::Sample>> subscription_;
  takt_interfaces::msg::Sample response_;
  MessageInfo info_;
};

// All services of the process, by name.
class Services {
 public:
  [[nodiscard]] Service& of(const std::string& name) { return services_[name]; }
  [[nodiscard]] Service::Client& add_client(const std::string& name) {
    return services_[name].add_client(over_);
  }

  // Set when clients do not wait for responses any more.
  [[nodiscard]] const std::atomic<bool>& over() const noexcept { return over_; }

  // Clients of this process do not wait for responses any more, so that their jobs end.
  void end() noexcept {
    over_.store(true);
    for (auto& [name, service] : services_) {
      service.end();
    }
  }

 private:
  std::map<std::string, Service> services_;
  std::atomic<bool> over_{false};
};

}  // namespace takt::runner
