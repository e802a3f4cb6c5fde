// SPDX-License-Identifier: Apache-2.0
#include <rcl/node.h>
#include <rcl/node_options.h>

#include <stdexcept>
#include <takt/os/thread.hpp>
#include <takt/rcl/local_channel.hpp>
#include <takt/rcl/node.hpp>
#include <utility>

#include "node_handle.hpp"
#include "rcl_error.hpp"
#include "sim_time.hpp"

namespace takt {

namespace detail {

NodeHandle::NodeHandle(std::shared_ptr<ContextHandle> shared_context, const std::string& name,
                       const std::string& name_space)
    : context{std::move(shared_context)}, node{rcl_get_zero_initialized_node()} {
  const rcl_node_options_t options = rcl_node_get_default_options();
  const rcl_ret_t code =
      rcl_node_init(&node, name.c_str(), name_space.c_str(), &context->context, &options);
  if (code != RCL_RET_OK) {
    throw_rcl_error(code, "cannot create a node",
                    "name '" + name + "', namespace '" + name_space + "'");
  }
  uses_sim_time = is_sim_time_asked_for(context->context.global_arguments,
                                        rcl_node_get_fully_qualified_name(&node));
}

NodeHandle::~NodeHandle() {
  // With the last node of a context goes its DDS participant. Fast DDS polls until no other
  // participant's coming or going is being told (Fast-DDS issue 6513); at a real-time priority it
  // keeps the thread that tells it from ever coming to its end.
  os::run_without_priority([this] { log_failure(rcl_node_fini(&node), "cannot close a node"); });
}

std::string NodeHandle::describe_topic(const std::string& topic) const {
  const char* name = rcl_node_get_fully_qualified_name(&node);
  return "topic '" + topic + "', node '" + (name != nullptr ? name : "?") + "'";
}

namespace {

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

std::string without_slash(const char* name) {
  const std::string text = text_or_empty(name);
  return text.starts_with('/') ? text.substr(1) : text;
}

}  // namespace

std::string NodeHandle::name_of_timer() {
  const std::scoped_lock lock{entities_mutex};
  return without_slash(rcl_node_get_fully_qualified_name(&node)) + ".timer" +
         std::to_string(++timers_created_);
}

std::string NodeHandle::name_of_topic(const std::string& full_topic) {
  const std::string first = without_slash(rcl_node_get_fully_qualified_name(&node)) + "." +
                            without_slash(full_topic.c_str());
  const std::scoped_lock lock{entities_mutex};
  std::string name = first;
  for (int number = 2; !names_.insert(name).second; ++number) {
    name = first + std::to_string(number);
  }
  return name;
}

void NodeHandle::forget_subscription(const std::string& name) noexcept {
  const std::scoped_lock lock{entities_mutex};
  names_.erase(name);
  std::erase_if(subscriptions, [](const auto& known) { return known.expired(); });
}

std::shared_ptr<void> find_channel(const NodeHandle& node, const std::string& topic,
                                   std::type_index type, std::shared_ptr<void> (*make)()) {
  ContextHandle& context = *node.context;
  if (!context.use_intra_process) {
    return nullptr;
  }
  const std::pair key{topic, type};
  const std::scoped_lock lock{context.channels_mutex};
  std::weak_ptr<void>& known = context.channels[key];
  std::shared_ptr<void> channel = known.lock();
  if (channel == nullptr) {
    std::shared_ptr<void> made = make();
    void* const address = made.get();
    // The last one who has it takes the entry out, unless there is a new one meanwhile.
    known = channel = std::shared_ptr<void>{
        address, [made = std::move(made), key, of = node.context](void*) mutable {
          const std::shared_ptr<ContextHandle> still = std::move(of);
          made.reset();
          const std::scoped_lock forgetting{still->channels_mutex};
          const auto entry = still->channels.find(key);
          if (entry != still->channels.end() && entry->second.expired()) {
            still->channels.erase(entry);
          }
        }};
  }
  return channel;
}

}  // namespace detail

Node::Node(const Context& context, const std::string& name, const std::string& name_space)
    : context_{context},
      handle_{std::make_shared<detail::NodeHandle>(context.handle_, name, name_space)} {}

std::string Node::get_name() const {
  return detail::text_or_empty(rcl_node_get_name(&handle_->node));
}

std::string Node::get_namespace() const {
  return detail::text_or_empty(rcl_node_get_namespace(&handle_->node));
}

std::string Node::get_fully_qualified_name() const {
  return detail::text_or_empty(rcl_node_get_fully_qualified_name(&handle_->node));
}

std::shared_ptr<Timer> Node::add_timer(std::chrono::nanoseconds period,
                                       Timer::Callback callback) const {
  if (period.count() <= 0) {
    throw std::invalid_argument{"cannot create a timer (node '" + get_fully_qualified_name() +
                                "'): its period is " + std::to_string(period.count()) +
                                " ns; give one above zero"};
  }
  auto timer = std::make_shared<Timer>(handle_->name_of_timer(), handle_->uses_sim_time, period,
                                       std::move(callback));
  const std::scoped_lock lock{handle_->entities_mutex};
  std::erase_if(handle_->timers, [](const auto& known) { return known.expired(); });
  handle_->timers.push_back(timer);
  return timer;
}

void Node::keep(const std::shared_ptr<SubscriptionBase>& subscription) const {
  const std::scoped_lock lock{handle_->entities_mutex};
  handle_->subscriptions.push_back(subscription);
}

namespace {

template <class Entity>
std::vector<std::shared_ptr<Entity>> alive(const std::vector<std::weak_ptr<Entity>>& entities) {
  std::vector<std::shared_ptr<Entity>> found;
  for (const auto& entity : entities) {
    if (auto living = entity.lock()) {
      found.push_back(std::move(living));
    }
  }
  return found;
}

}  // namespace

std::vector<std::shared_ptr<Timer>> Node::get_timers() const {
  const std::scoped_lock lock{handle_->entities_mutex};
  return alive(handle_->timers);
}

std::vector<std::shared_ptr<SubscriptionBase>> Node::get_subscriptions() const {
  const std::scoped_lock lock{handle_->entities_mutex};
  return alive(handle_->subscriptions);
}

}  // namespace takt
