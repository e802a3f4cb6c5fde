// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that something arriving releases: messages, requests, answers, events.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <rclcpp/client.hpp>
#include <rclcpp/service.hpp>
#include <rclcpp/subscription_base.hpp>
#include <rclcpp/waitable.hpp>

#include "arrivals.hpp"
#include "core_names.hpp"
#include "source.hpp"
#include "takt/executor/input.hpp"

namespace takt_rclcpp {

// Whom an entity tells of what arrives.
struct Listener {
  std::shared_ptr<Arrivals> arrivals;
  std::int64_t first = 0;  // what the entity has for the first of its parts

  void notify(std::size_t count, std::int64_t part) const { arrivals->arrive(count, first + part); }
};

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

  virtual void listen(const Listener& listener) = 0;
  virtual void silence() = 0;
  // Of what has come and was not told of.
  virtual void listen_again() {}
  virtual void execute(std::int64_t part) = 0;
  // How much the entity itself keeps.
  [[nodiscard]] virtual std::size_t limit() const { return unlimited; }
  // Whether it has several parts.
  [[nodiscard]] virtual bool has_parts() const { return false; }

  static constexpr std::size_t unlimited = ~std::size_t{0};
};

[[nodiscard]] std::unique_ptr<Arriving> arriving(const rclcpp::SubscriptionBase::SharedPtr&);
[[nodiscard]] std::unique_ptr<Arriving> arriving(const rclcpp::ServiceBase::SharedPtr&);
[[nodiscard]] std::unique_ptr<Arriving> arriving(const rclcpp::ClientBase::SharedPtr&);
[[nodiscard]] std::unique_ptr<Arriving> arriving(const rclcpp::Waitable::SharedPtr&);

class MessageSource final : public Source {
 public:
  // Releases that the executor below remembers of one callback.
  static constexpr std::size_t queue = 16;

  MessageSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                std::shared_ptr<Bell> bell, std::unique_ptr<Arriving> entity);
  // From here on drain() knows when what it finds has arrived. From any thread.
  void keep_times() noexcept { arrivals_->keep_times(); }
  // Hands all that has arrived to the callback, as a part of a reader's job (Source::deliver). It
  // counts as it goes: the callback may throw.
  void drain(executor::Delivered& delivered);

 private:
  void listen(const Releases& releases) override;
  void listen_again() override;
  void silence() noexcept override;
  void work(const sched::Job& job) override;
  [[nodiscard]] std::unique_lock<executor::PriorityMutex> lock_exclusively();
  void execute(std::int64_t part);

  const std::unique_ptr<Arriving> entity_;
  const std::shared_ptr<Arrivals> arrivals_;
  // Of its newest message, for those who read it.
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  std::atomic<std::int64_t> stamp_{none};
  executor::PriorityMutex
      executing_;  // where the group excludes nobody, without lanes: its job, its readers
};

// What arrives for a callback, as another one reads it.
class Reading final : public executor::Input {
 public:
  Reading(std::shared_ptr<MessageSource> from, std::shared_ptr<Source> reader)
      : from_{std::move(from)}, reader_{std::move(reader)} {
    from_->keep_times();
  }
  executor::Delivered deliver_pending() noexcept override { return reader_->deliver(*from_); }

 private:
  const std::shared_ptr<MessageSource> from_;
  const std::shared_ptr<Source> reader_;
};

}  // namespace takt_rclcpp
