// SPDX-License-Identifier: Apache-2.0
//
// Two threads of one process, a buffer and an event in each direction: the cost of a hand-over with
// two copies of the payload, without any middleware. A buffer holds one message; one that comes
// while the last is still there is lost, as it would be with a socket.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "takt/os/event.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

/// One direction.
struct FutexLane {
  explicit FutexLane(std::size_t bytes) : payload(bytes) {}

  os::Event event;
  std::atomic<bool> full{false};
  Message message;
  std::vector<std::byte> payload;
};

class FutexLink : public Link {
 public:
  FutexLink(std::shared_ptr<FutexLane> out, std::shared_ptr<FutexLane> in, os::StopFlag& stop);
  ~FutexLink() override;

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override;
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  std::size_t peers() const noexcept override { return 1; }
  std::optional<os::NotGranted> problem() const override { return {}; }

 private:
  std::shared_ptr<FutexLane> out_;
  std::shared_ptr<FutexLane> in_;
  os::StopFlag& stop_;
  Message taken_;
  std::vector<std::byte> payload_;
};

}  // namespace takt::probe
