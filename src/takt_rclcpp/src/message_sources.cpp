// SPDX-License-Identifier: Apache-2.0
#include "message_sources.hpp"

#include <algorithm>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <rclcpp/logging.hpp>

#include "open_executor.hpp"

namespace takt::rclcpp {
namespace {

std::size_t kept_by(const ::rclcpp::QoS& qos) {
  const bool all = qos.history() == ::rclcpp::HistoryPolicy::KeepAll;
  return all ? Arriving::unlimited : std::max<std::size_t>(qos.depth(), 1);
}

class Subscription final : public Arriving {
 public:
  explicit Subscription(const ::rclcpp::SubscriptionBase::SharedPtr& entity)
      : entity_{entity}, limit_{kept_by(entity->get_actual_qos())} {}

  void listen(std::shared_ptr<Arrivals> arrivals) override {
    if (const auto entity = entity_.lock()) {
      entity->set_on_new_message_callback(
          [arrivals = std::move(arrivals)](std::size_t count) { arrivals->arrive(count, 0); });
    }
  }
  void silence() override {
    if (const auto entity = entity_.lock()) {
      entity->clear_on_new_message_callback();
    }
  }
  void execute(std::int64_t /*value*/) override {
    if (const auto entity = entity_.lock()) {
      OpenExecutor::execute_subscription(entity);
    }
  }
  [[nodiscard]] std::size_t limit() const override { return limit_; }

 private:
  const std::weak_ptr<::rclcpp::SubscriptionBase> entity_;
  const std::size_t limit_;
};

class Service final : public Arriving {
 public:
  explicit Service(const ::rclcpp::ServiceBase::SharedPtr& entity) : entity_{entity} {}

  void listen(std::shared_ptr<Arrivals> arrivals) override {
    if (const auto entity = entity_.lock()) {
      entity->set_on_new_request_callback(
          [arrivals = std::move(arrivals)](std::size_t count) { arrivals->arrive(count, 0); });
    }
  }
  void silence() override {
    if (const auto entity = entity_.lock()) {
      entity->clear_on_new_request_callback();
    }
  }
  void execute(std::int64_t /*value*/) override {
    if (const auto entity = entity_.lock()) {
      OpenExecutor::execute_service(entity);
    }
  }

 private:
  const std::weak_ptr<::rclcpp::ServiceBase> entity_;
};

class Client final : public Arriving {
 public:
  explicit Client(const ::rclcpp::ClientBase::SharedPtr& entity) : entity_{entity} {}

  void listen(std::shared_ptr<Arrivals> arrivals) override {
    if (const auto entity = entity_.lock()) {
      entity->set_on_new_response_callback(
          [arrivals = std::move(arrivals)](std::size_t count) { arrivals->arrive(count, 0); });
    }
  }
  void silence() override {
    if (const auto entity = entity_.lock()) {
      entity->clear_on_new_response_callback();
    }
  }
  void execute(std::int64_t /*value*/) override {
    if (const auto entity = entity_.lock()) {
      OpenExecutor::execute_client(entity);
    }
  }

 private:
  const std::weak_ptr<::rclcpp::ClientBase> entity_;
};

class Waitable final : public Arriving {
 public:
  explicit Waitable(const ::rclcpp::Waitable::SharedPtr& entity) : entity_{entity} {
    using IntraProcess = ::rclcpp::experimental::SubscriptionIntraProcessBase;
    if (const auto* const intra = dynamic_cast<const IntraProcess*>(entity.get())) {
      limit_ = kept_by(intra->get_actual_qos());
    }
  }

  void listen(std::shared_ptr<Arrivals> arrivals) override {
    if (const auto entity = entity_.lock()) {
      entity->set_on_ready_callback([arrivals = std::move(arrivals)](std::size_t count, int part) {
        arrivals->arrive(count, part);
      });
    }
  }
  void silence() override {
    if (const auto entity = entity_.lock()) {
      entity->clear_on_ready_callback();
    }
  }
  void execute(std::int64_t value) override {
    if (const auto entity = entity_.lock()) {
      entity->execute(entity->take_data_by_entity_id(static_cast<std::size_t>(value)));
    }
  }
  [[nodiscard]] std::size_t limit() const override { return limit_; }

 private:
  const std::weak_ptr<::rclcpp::Waitable> entity_;
  std::size_t limit_ = unlimited;
};

}  // namespace

std::unique_ptr<Arriving> arriving(const ::rclcpp::SubscriptionBase::SharedPtr& entity) {
  return std::make_unique<Subscription>(entity);
}
std::unique_ptr<Arriving> arriving(const ::rclcpp::ServiceBase::SharedPtr& entity) {
  return std::make_unique<Service>(entity);
}
std::unique_ptr<Arriving> arriving(const ::rclcpp::ClientBase::SharedPtr& entity) {
  return std::make_unique<Client>(entity);
}
std::unique_ptr<Arriving> arriving(const ::rclcpp::Waitable::SharedPtr& entity) {
  return std::make_unique<Waitable>(entity);
}

MessageSource::MessageSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                             std::shared_ptr<Bell> bell, std::unique_ptr<Arriving> entity)
    : Source{std::move(id), std::move(task), std::move(group), std::move(bell)},
      entity_{std::move(entity)},
      arrivals_{std::make_shared<Arrivals>(entity_->limit(), queue)} {}

void MessageSource::arm(const executor::ReleaseHandle& release) {
  arrivals_->open(release);
  entity_->listen(arrivals_);
}

void MessageSource::disarm() noexcept {
  try {
    entity_->silence();
  } catch (const std::exception& error) {  // the middleware refused: it will talk to nobody
    RCLCPP_WARN(::rclcpp::get_logger("takt"), "%s: cannot stop listening: %s", id().text().c_str(),
                error.what());
  }
  arrivals_->close();
}

void MessageSource::work(const sched::Job& /*job*/) {
  if (const auto value = arrivals_->take_for_job()) {
    entity_->execute(*value);
  }
}

executor::Delivered MessageSource::deliver_pending() noexcept {
  executor::Delivered delivered;
  try {
    while (const auto value = arrivals_->take()) {
      entity_->execute(*value);
      ++delivered.count;
    }
  } catch (...) {
    bell().fail(std::current_exception());
  }
  return delivered;
}

}  // namespace takt::rclcpp
