// SPDX-License-Identifier: Apache-2.0
#include "message_sources.hpp"

#include <rcl/client.h>
#include <rcl/service.h>
#include <rcl/subscription.h>

#include <algorithm>
#include <rclcpp/event_handler.hpp>
#include <rclcpp/exceptions.hpp>
#include <rclcpp/experimental/subscription_intra_process_base.hpp>
#include <rclcpp/logging.hpp>
#include <utility>

#include "core_names.hpp"
#include "doors.hpp"
#include "open_executor.hpp"
#include "publications.hpp"

namespace takt_rclcpp {
namespace {

std::size_t kept_by(const rclcpp::QoS& qos) {
  const bool all = qos.history() == rclcpp::HistoryPolicy::KeepAll;
  return all ? Arriving::unlimited : std::max<std::size_t>(qos.depth(), 1);
}

// Of the process, and for good: entities outlive executors, and the middleware its static objects.
Doors<const Listener>& doors() {
  static auto& of_process = *new Doors<const Listener>;  // NOLINT(cppcoreguidelines-owning-memory)
  return of_process;
}

using ListenersDoor = Door<const Listener, doors>;

// rcl is asked itself: the hook that rclcpp keeps goes with its entity, while events of the entity
// may keep what calls it. The handle is rcl's; whoever finishes it ends the calls. It is known only
// while something listens: its deleter has the node, for as long as anybody knows of the handle.
template <class Entity, class Handle,
          rcl_ret_t (*Hook)(const Handle*, rcl_event_callback_t, const void*)>
class OfRcl final : public Arriving {
 public:
  using HandleOf = std::shared_ptr<Handle> (*)(Entity&);
  using Execute = void (*)(const std::shared_ptr<Entity>&);

  OfRcl(const std::shared_ptr<Entity>& entity, HandleOf handle, Execute how,
        std::size_t limit = unlimited)
      : entity_{entity}, handle_of_{handle}, execute_{how}, limit_{limit} {}

  void listen(const Listener& listener) override {
    if (const auto entity = entity_.lock()) {
      handle_ = handle_of_(*entity);
    }
    door_ = std::make_unique<ListenersDoor>(std::make_shared<const Listener>(listener));
    // Twice, as rclcpp does: rmw_fastrtps counts what has come before it installs its listener, and
    // tells nobody of what comes in between.
    listen_again();
    listen_again();
  }
  void listen_again() override {
    hook(
        handle_,
        [](const void* data, std::size_t count) {
          ListenersDoor::enter(data,
                               [count](const Listener& listener) { listener.notify(count, 0); });
        },
        door_->key());
  }
  void silence() override {
    // Also where the entity is being destroyed by another thread, and its hook may be running.
    const std::unique_ptr<ListenersDoor> closes = std::move(door_);
    hook(std::exchange(handle_, {}), nullptr, nullptr);
  }
  void execute(std::int64_t /*part*/) override {
    if (const auto entity = entity_.lock()) {
      execute_(entity);
    }
  }
  [[nodiscard]] std::size_t limit() const override { return limit_; }

 private:
  static void hook(const std::weak_ptr<Handle>& of, rcl_event_callback_t callback,
                   const void* data) {
    const auto handle = of.lock();
    if (handle == nullptr) {
      return;
    }
    const rcl_ret_t result = Hook(handle.get(), callback, data);
    if (result != RCL_RET_OK) {
      rclcpp::exceptions::throw_from_rcl_error(result, "cannot listen to an entity");
    }
  }

  const std::weak_ptr<Entity> entity_;
  const HandleOf handle_of_;
  std::weak_ptr<Handle> handle_;
  const Execute execute_;
  const std::size_t limit_;
  std::unique_ptr<ListenersDoor> door_;  // while it listens
};

class Waitable final : public Arriving {
 public:
  explicit Waitable(const rclcpp::Waitable::SharedPtr& entity) : entity_{entity} {
    using IntraProcess = rclcpp::experimental::SubscriptionIntraProcessBase;
    if (const auto* const intra = dynamic_cast<const IntraProcess*>(entity.get())) {
      limit_ = kept_by(intra->get_actual_qos());
      has_parts_ = false;
    } else if (dynamic_cast<const rclcpp::EventHandlerBase*>(entity.get()) != nullptr) {
      has_parts_ = false;
    }
  }

  void listen(const Listener& listener) override {
    listener_ = listener;
    listen_again();
  }
  void listen_again() override {
    if (const auto entity = entity_.lock()) {
      entity->set_on_ready_callback(
          [listener = listener_](std::size_t count, int part) { listener.notify(count, part); });
    }
  }
  void silence() override {
    if (const auto entity = entity_.lock()) {
      entity->clear_on_ready_callback();
    }
  }
  void execute(std::int64_t part) override {
    if (const auto entity = entity_.lock()) {
      entity->execute(entity->take_data_by_entity_id(static_cast<std::size_t>(part)));
    }
  }
  [[nodiscard]] std::size_t limit() const override { return limit_; }
  [[nodiscard]] bool has_parts() const override { return has_parts_; }

 private:
  const std::weak_ptr<rclcpp::Waitable> entity_;
  std::size_t limit_ = unlimited;
  bool has_parts_ = true;
  Listener listener_;
};

}  // namespace

std::unique_ptr<Arriving> arriving(const rclcpp::SubscriptionBase::SharedPtr& entity) {
  using Entity = rclcpp::SubscriptionBase;
  return std::make_unique<
      OfRcl<Entity, rcl_subscription_t, rcl_subscription_set_on_new_message_callback>>(
      entity, [](Entity& of) { return of.get_subscription_handle(); },
      [](const std::shared_ptr<Entity>& of) { OpenExecutor::execute_subscription(of); },
      kept_by(entity->get_actual_qos()));
}
std::unique_ptr<Arriving> arriving(const rclcpp::ServiceBase::SharedPtr& entity) {
  using Entity = rclcpp::ServiceBase;
  return std::make_unique<OfRcl<Entity, rcl_service_t, rcl_service_set_on_new_request_callback>>(
      entity, [](Entity& of) { return of.get_service_handle(); },
      [](const std::shared_ptr<Entity>& of) { OpenExecutor::execute_service(of); });
}
std::unique_ptr<Arriving> arriving(const rclcpp::ClientBase::SharedPtr& entity) {
  using Entity = rclcpp::ClientBase;
  return std::make_unique<OfRcl<Entity, rcl_client_t, rcl_client_set_on_new_response_callback>>(
      entity, [](Entity& of) { return of.get_client_handle(); },
      [](const std::shared_ptr<Entity>& of) { OpenExecutor::execute_client(of); });
}
std::unique_ptr<Arriving> arriving(const rclcpp::Waitable::SharedPtr& entity) {
  return std::make_unique<Waitable>(entity);
}

MessageSource::MessageSource(CallbackId id, sched::Task task, std::shared_ptr<Group> group,
                             std::shared_ptr<Bell> bell, std::unique_ptr<Arriving> entity)
    : Source{std::move(id), std::move(task), std::move(group), std::move(bell)},
      entity_{std::move(entity)},
      arrivals_{std::make_shared<Arrivals>(entity_->limit(), queue, entity_->has_parts())} {}

void MessageSource::listen(const Releases& releases) {
  arrivals_->open(releases);
  entity_->listen({.arrivals = arrivals_});
}

// Not topics: the middleware's lock of the reader knows no priorities, and whoever publishes would
// wait for the thread that spins. Of a message lost so the next one tells.
void MessageSource::listen_again() {
  const CallbackKind kind = id().kind;
  const bool waits_for_one = kind == CallbackKind::service || kind == CallbackKind::client ||
                             kind == CallbackKind::waitable || kind == CallbackKind::housekeeping;
  if (waits_for_one) {
    entity_->listen_again();
  }
}

void MessageSource::silence() noexcept {
  try {
    entity_->silence();
  } catch (const std::exception& error) {  // the middleware refused: it will talk to nobody
    RCLCPP_WARN(rclcpp::get_logger("takt"), "%s: cannot stop listening: %s", id().text().c_str(),
                error.what());
  }
  arrivals_->close();
}

std::unique_lock<executor::PriorityMutex> MessageSource::lock_exclusively() {
  return group().exclusive || lanes() > 1 ? std::unique_lock<executor::PriorityMutex>{}
                                          : std::unique_lock{executing_};
}

void MessageSource::execute(std::int64_t part) {
  static_cast<void>(stamp_taken());
  entity_->execute(part);
  if (const auto stamp = stamp_taken()) {
    stamp_.store(*stamp);
  }
}

// With all that it calls of this library: it is run for each message.
[[gnu::flatten]] void MessageSource::work(const sched::Job& /*job*/) {
  const auto lock = lock_exclusively();
  if (const auto value = arrivals_->take_for_job()) {
    execute(*value);
  }
}

void MessageSource::drain(executor::Delivered& delivered) {
  const auto lock = lock_exclusively();
  // What arrives meanwhile may be delivered, too, and is taken for as old.
  std::optional<os::TimePoint> newest = arrivals_->newest();
  while (const auto value = arrivals_->take()) {
    execute(*value);
    ++delivered.count;
    newest = newest ? newest : os::now();  // whoever announces the first one is still at it
  }
  delivered.sampled = newest;
  if (const std::int64_t stamp = stamp_.load(); stamp != none) {
    delivered.message = stamp;
  }
}

}  // namespace takt_rclcpp
