// SPDX-License-Identifier: Apache-2.0
//
// Housekeeping: what a callback group has that no author asked for, nine of ten of a plain node's
// entities. Together they are one task, whose members come and go without the executor below.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core_names.hpp"
#include "message_sources.hpp"

namespace takt_rclcpp {

class Housekeeping final : public Arriving {
 public:
  // From one thread at a time. Is listened to at once where the others are. Throws what listening
  // to it does, and it is no member then.
  void add(const void* key, std::shared_ptr<Arriving> member, bool asks_again);
  void remove(const void* key) noexcept;

  // As all of them: the source calls them one at a time.
  void listen(const Listener& listener) override;
  void silence() override;
  void listen_again() override;
  void execute(std::int64_t part) override;
  [[nodiscard]] bool has_parts() const override { return true; }

 private:
  struct Member {
    const void* key = nullptr;
    std::shared_ptr<Arriving> entity = {};
    bool asks_again = false;  // it was seen not to be told of something
  };

  // Each is a part, which has none.
  std::map<std::int64_t, Member> members_;
  std::int64_t next_ = 0;
  Listener listener_;  // without arrivals: nobody listens
  // Around all of it but what a member executes. Members tell of what arrives without it.
  executor::PriorityMutex mutex_;
};

}  // namespace takt_rclcpp
