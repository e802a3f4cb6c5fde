// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that something arriving releases: messages, requests, answers, events.
#pragma once

#include <memory>
#include <rclcpp/client.hpp>
#include <rclcpp/service.hpp>
#include <rclcpp/subscription_base.hpp>
#include <rclcpp/waitable.hpp>

#include "arrivals.hpp"
#include "source.hpp"
#include "takt/executor/input.hpp"

namespace takt::rclcpp {

// How an entity is listened to, and what it does when something is there; one for each kind of
// entity of rclcpp. All of them do nothing when the entity is gone.
class Arriving {
 public:
  Arriving() = default;
  Arriving(const Arriving&) = delete;
  Arriving& operator=(const Arriving&) = delete;
  Arriving(Arriving&&) = delete;
  Arriving& operator=(Arriving&&) = delete;
  virtual ~Arriving() = default;

  virtual void listen(std::shared_ptr<Arrivals> arrivals) = 0;
  virtual void silence() = 0;
  // Of what has come and was not told of.
  virtual void listen_again() {}
  virtual void execute(std::int64_t value) = 0;
  // How much the entity itself keeps.
  [[nodiscard]] virtual std::size_t limit() const { return unlimited; }

  static constexpr std::size_t unlimited = ~std::size_t{0};
};

[[nodiscard]] std::unique_ptr<Arriving> arriving(const ::rclcpp::SubscriptionBase::SharedPtr&);
[[nodiscard]] std::unique_ptr<Arriving> arriving(const ::rclcpp::ServiceBase::SharedPtr&);
[[nodiscard]] std::unique_ptr<Arriving> arriving(const ::rclcpp::ClientBase::SharedPtr&);
[[nodiscard]] std::unique_ptr<Arriving> arriving(const ::rclcpp::Waitable::SharedPtr&);

class MessageSource final : public Source, public executor::Input {
 public:
  // Releases that the executor below remembers of one callback.
  static constexpr std::size_t queue = 16;

  MessageSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                std::shared_ptr<Bell> bell, std::unique_ptr<Arriving> entity);
  ~MessageSource() override;
  MessageSource(const MessageSource&) = delete;
  MessageSource& operator=(const MessageSource&) = delete;
  MessageSource(MessageSource&&) = delete;
  MessageSource& operator=(MessageSource&&) = delete;

  void arm(const executor::ReleaseHandle& release) override;
  void disarm() noexcept override;
  void look_again() override;
  // For tasks of the same group, or where this one has none.
  executor::Delivered deliver_pending() noexcept override;

 private:
  void work(const sched::Job& job) override;

  const std::unique_ptr<Arriving> entity_;
  const std::shared_ptr<Arrivals> arrivals_;
  std::atomic<bool> is_armed_{false};
};

}  // namespace takt::rclcpp
