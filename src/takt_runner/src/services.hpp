// SPDX-License-Identifier: Apache-2.0
//
// Calls of services in one process: a request is a message to the server, and the client waits
// until the server has ended the job for it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/os/event.hpp>

namespace takt::runner {

// The clients of one service, each with a request or none.
class Service {
 public:
  class Client {
   public:
    explicit Client(const std::atomic<bool>& over) : over_{&over} {}

    // Before the message of this number is published.
    void ask(std::int64_t number) noexcept { request_.store(number); }

    // Sleeps until it is answered, or all is over.
    void wait() noexcept {
      constexpr std::chrono::milliseconds between_looks{50};
      while (!answered_.wait_until(os::now() + between_looks)) {
        if (over_->load(std::memory_order_relaxed)) {
          return;
        }
      }
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

// All services of the process, by name.
class Services {
 public:
  [[nodiscard]] Service& of(const std::string& name) { return services_[name]; }
  [[nodiscard]] Service::Client& add_client(const std::string& name) {
    return services_[name].add_client(over_);
  }

  // Clients do not wait for responses any more, so that their jobs end.
  void end() noexcept { over_.store(true, std::memory_order_relaxed); }

 private:
  std::map<std::string, Service> services_;
  std::atomic<bool> over_{false};
};

}  // namespace takt::runner
