// SPDX-License-Identifier: Apache-2.0
//
// Nodes with entities of each kind that come, change hands and go while two executors spin: from
// several threads and from callbacks, under overload and with callbacks that starve.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <std_msgs/msg/int32.hpp>
#include <utility>

#include "fuzz.hpp"

namespace takt::fuzz {
namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::Int32;

constexpr std::size_t topics = 3;

class Round;

// A node and its entities. Whoever changes it has its mutex; callbacks do not wait for that.
class Guest : public std::enable_shared_from_this<Guest> {
 public:
  Guest(Round& round, const rclcpp::Context::SharedPtr& context, std::size_t number,
        Random& random);

  void make_entity(Random& random);
  void drop_entity(Random& random);
  void disturb_timer(Random& random);
  void send(Random& random);
  // Of `hosts`; -1: of none. Removes it from where it was.
  void move_to(int host, bool waits);
  // A group that an executor has without the rest of its node.
  void make_lone_group(Random& random);
  void drop_lone_group(bool waits);
  void expect_alive();
  void leave();

  std::mutex mutex;

 private:
  struct LoneGroup {
    rclcpp::CallbackGroup::SharedPtr group;
    rclcpp::TimerBase::SharedPtr timer;
    std::shared_ptr<std::atomic<bool>> gone;
    int host = 0;
  };

  rclcpp::CallbackGroup::SharedPtr some_group(Random& random);
  // What each callback of it does. `forbidden`: it may not be called any more.
  auto work(std::shared_ptr<std::atomic<bool>> forbidden);

  Round& round_;
  const rclcpp::Node::SharedPtr node_;
  const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  int host_ = -1;
  std::vector<rclcpp::CallbackGroup::SharedPtr> groups_;
  std::vector<rclcpp::TimerBase::SharedPtr> timers_;
  std::vector<std::shared_ptr<void>> others_;  // subscriptions, services
  std::vector<rclcpp::Publisher<Int32>::SharedPtr> publishers_;
  std::vector<rclcpp::Client<ListParameters>::SharedPtr> clients_;
  std::vector<LoneGroup> lone_groups_;
};

class Round {
 public:
  explicit Round(Random& random)
      : context_{make_context()}, seed_{random()}, traced_{one_in(random, 3)} {
    for (std::size_t i = 0; i < 2; ++i) {
      auto options = draw_options(random);
      if (traced_ && i == 0) {
        options.scheduling.trace = trace();
      }
      hosts_.push_back(std::make_unique<Host>(std::move(options), context_));
    }
    for (int i = 0; i < 3; ++i) {
      add(random);
    }
  }
  ~Round() {
    const std::string prefix = trace().stem().string();
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator{trace().parent_path(), ignored}) {
      if (file.path().filename().string().starts_with(prefix)) {
        std::filesystem::remove(file.path(), ignored);
      }
    }
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  Round(Round&&) = delete;
  Round& operator=(Round&&) = delete;

  void play(Random& random) {
    std::vector<std::thread> operators;
    for (std::uint64_t i = 2 + below(random, 2); i > 0; --i) {
      operators.emplace_back([this, own = Random{random()}]() mutable { operate(own); });
    }
    for (std::thread& each : operators) {
      each.join();
    }
    calm_ = true;
    for (const auto& guest : all()) {
      guest->expect_alive();
    }
    for (const auto& each : hosts_) {  // callbacks may use both
      if (one_in(random, 2)) {
        each->end();
      }
    }
    const bool hosts_first = one_in(random, 2);
    if (one_in(random, 4)) {
      context_->shutdown("the end of a round");
    }
    if (hosts_first) {
      for (const auto& each : hosts_) {
        each->end();
      }
      hosts_.clear();
    } else {
      for (const auto& guest : all()) {
        guest->leave();
      }
    }
    {
      const std::lock_guard lock{mutex_};
      guests_.clear();
    }
    hosts_.clear();
    context_->shutdown("the end of a round");
    tokens.expect_none();
  }

  [[nodiscard]] Host& host(int index) { return *hosts_.at(static_cast<std::size_t>(index)); }
  [[nodiscard]] bool is_calm() const { return calm_; }

  // On the thread of a callback of `of`, which may be destroyed meanwhile.
  void from_callback(const std::weak_ptr<Guest>& of) {
    thread_local Random random;
    thread_local std::uint64_t seeded = 0;
    if (std::exchange(seeded, seed_) != seed_) {
      random.seed(seed_ + ++threads_);
    }
    if (calm_) {
      return;
    }
    if (one_in(random, 4)) {  // now and then more than a core has time for
      const auto end = os::now() + std::chrono::microseconds{below(random, 2000)};
      while (os::now() < end) {
      }
    }
    const auto guest = of.lock();
    if (!guest) {
      return;
    }
    const std::unique_lock lock{guest->mutex, std::try_to_lock};
    if (!lock) {
      return;
    }
    switch (below(random, 24)) {
      case 0:
        guest->make_entity(random);
        break;
      case 1:
        guest->drop_entity(random);
        break;
      case 2:
        guest->disturb_timer(random);
        break;
      case 3:
        guest->move_to(static_cast<int>(below(random, 3)) - 1, false);
        break;
      case 4:
        ask(random);
        break;
      case 5:
        guest->drop_lone_group(false);
        break;
      case 6:
      case 7:
        guest->send(random);  // one message brings about less than one other
        break;
      default:
        break;
    }
  }

  const Token::Count tokens;

 private:
  std::filesystem::path trace() const {
    return std::filesystem::temp_directory_path() /
           ("takt." + std::to_string(getpid()) + ".rclcpp_life.trace");
  }

  void operate(Random& random) {
    for (std::uint64_t left = 20 + below(random, 60); left > 0; --left) {
      const std::uint64_t what = below(random, 16);
      if (what == 0) {
        add(random);
      } else if (what == 1) {
        remove(random);
      } else if (what == 2) {
        ask(random);
      } else if (what == 3) {
        host(static_cast<int>(below(random, 2))).executor.cancel();
      } else if (what == 4) {
        os::sleep_until(os::now() + std::chrono::microseconds{below(random, 5000)});
      } else if (const auto guest = some_guest(random)) {
        const std::lock_guard lock{guest->mutex};
        change(*guest, what, random);
      }
    }
  }

  static void change(Guest& guest, std::uint64_t what, Random& random) {
    switch (what) {
      case 5:
      case 6:
        guest.move_to(static_cast<int>(below(random, 3)) - 1, one_in(random, 2));
        break;
      case 7:
        guest.make_lone_group(random);
        break;
      case 8:
        guest.drop_lone_group(one_in(random, 2));
        break;
      case 9:
      case 10:
        guest.make_entity(random);
        break;
      case 11:
        guest.drop_entity(random);
        break;
      case 12:
        guest.disturb_timer(random);
        break;
      default:
        guest.send(random);
    }
  }

  void ask(Random& random) {
    SchedulingExecutor& executor = host(static_cast<int>(below(random, 2))).executor;
    switch (below(random, 5)) {
      case 0:
        for (const std::string& name : executor.callbacks()) {
          try {
            static_cast<void>(executor.statistics(name));
          } catch (const std::out_of_range&) {  // it has gone meanwhile
          }
        }
        break;
      case 1:
        static_cast<void>(executor.snapshot());
        break;
      case 2:
        static_cast<void>(executor.unmatched());
        break;
      case 3:
        static_cast<void>(executor.limits());
        break;
      default:
        static_cast<void>(executor.switch_to("none"));
        static_cast<void>(executor.scenario());
    }
  }

  void add(Random& random) {
    const std::size_t number = names_++;
    if (number >= 12) {
      return;
    }
    auto guest = std::make_shared<Guest>(*this, context_, number, random);
    {
      const std::lock_guard lock{guest->mutex};
      for (int i = 0; i < 4; ++i) {
        guest->make_entity(random);
      }
      guest->move_to(static_cast<int>(below(random, 2)), false);
    }
    const std::lock_guard lock{mutex_};
    guests_.push_back(std::move(guest));
  }

  // Destroyed here or by the last callback that uses it; with or without leaving its executor.
  void remove(Random& random) {
    std::shared_ptr<Guest> guest;
    {
      const std::lock_guard lock{mutex_};
      if (guests_.size() < 2) {
        return;
      }
      const auto at = guests_.begin() + static_cast<std::ptrdiff_t>(below(random, guests_.size()));
      guest = std::move(*at);
      guests_.erase(at);
    }
    if (one_in(random, 2)) {
      guest->leave();
    }
  }

  std::shared_ptr<Guest> some_guest(Random& random) {
    const std::lock_guard lock{mutex_};
    return guests_.empty() ? nullptr : guests_[below(random, guests_.size())];
  }
  std::vector<std::shared_ptr<Guest>> all() {
    const std::lock_guard lock{mutex_};
    return guests_;
  }

  const rclcpp::Context::SharedPtr context_;
  const std::uint64_t seed_;
  const bool traced_;
  std::atomic<bool> calm_{false};
  std::atomic<std::uint64_t> threads_{0};
  std::atomic<std::size_t> names_{0};
  std::vector<std::unique_ptr<Host>> hosts_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Guest>> guests_;
};

std::string name_of(const char* kind, std::uint64_t number) {
  return kind + std::to_string(number);
}

Guest::Guest(Round& round, const rclcpp::Context::SharedPtr& context, std::size_t number,
             Random& random)
    : round_{round},
      node_{std::make_shared<rclcpp::Node>(name_of("guest", number),
                                           rclcpp::NodeOptions{}
                                               .context(context)
                                               .use_intra_process_comms(one_in(random, 2))
                                               .start_parameter_services(one_in(random, 2)))} {}

auto Guest::work(std::shared_ptr<std::atomic<bool>> forbidden) {
  return [&round = round_, token = round_.tokens.make(), self = weak_from_this(),
          forbidden = std::move(forbidden)] {
    check(!*forbidden, "a callback runs after it has gone");
    token.use();
    round.from_callback(self);
    token.use();
    check(!*forbidden, "a callback runs on after it has gone");
  };
}

rclcpp::CallbackGroup::SharedPtr Guest::some_group(Random& random) {
  if (groups_.size() < 3 && one_in(random, 3)) {
    groups_.push_back(node_->create_callback_group(
        one_in(random, 2) ? rclcpp::CallbackGroupType::Reentrant
                          : rclcpp::CallbackGroupType::MutuallyExclusive));
  }
  return groups_.empty() || one_in(random, 2) ? nullptr : groups_[below(random, groups_.size())];
}

void Guest::make_entity(Random& random) {
  if (timers_.size() + others_.size() + publishers_.size() + clients_.size() > 12) {
    return;
  }
  const auto group = some_group(random);
  const std::string topic = name_of("topic", below(random, topics));
  const std::string service = name_of("service", below(random, topics));
  const std::chrono::milliseconds period{5 + below(random, 50)};
  switch (below(random, 6)) {
    case 0:
      timers_.push_back(node_->create_wall_timer(period, work(gone_), group));
      break;
    case 1:
      timers_.push_back(
          rclcpp::create_timer(node_, node_->get_clock(), period, work(gone_), group));
      break;
    case 2: {
      rclcpp::SubscriptionOptions options;
      options.callback_group = group;
      if (one_in(random, 2)) {
        others_.push_back(node_->create_subscription<Int32>(
            topic, 1 + below(random, 5), [run = work(gone_)](const Int32&) { run(); }, options));
      } else {
        others_.push_back(node_->create_subscription<Int32>(
            topic, 1 + below(random, 5),
            [run = work(gone_)](Int32::UniquePtr message) {
              check(message != nullptr, "a message is missing");
              run();
            },
            options));
      }
      break;
    }
    case 3:
      others_.push_back(node_->create_service<ListParameters>(
          service,
          [run = work(gone_)](const ListParameters::Request::SharedPtr,
                              const ListParameters::Response::SharedPtr) { run(); },
          rclcpp::ServicesQoS(), group));
      break;
    case 4:
      clients_.push_back(
          node_->create_client<ListParameters>(service, rclcpp::ServicesQoS(), group));
      break;
    default:
      publishers_.push_back(node_->create_publisher<Int32>(topic, 1 + below(random, 5)));
  }
}

template <class Entity>
void drop_one(std::vector<Entity>& of, Random& random) {
  if (!of.empty()) {
    of.erase(of.begin() + static_cast<std::ptrdiff_t>(below(random, of.size())));
  }
}

void Guest::drop_entity(Random& random) {
  switch (below(random, 4)) {
    case 0:
      drop_one(timers_, random);
      break;
    case 1:
      drop_one(others_, random);
      break;
    case 2:
      drop_one(publishers_, random);
      break;
    default:
      drop_one(clients_, random);
  }
}

void Guest::disturb_timer(Random& random) {
  if (!timers_.empty()) {
    const auto& timer = timers_[below(random, timers_.size())];
    one_in(random, 3) ? timer->cancel() : timer->reset();
  }
}

void Guest::send(Random& random) {
  if (!clients_.empty() && one_in(random, 4)) {
    const auto& client = clients_[below(random, clients_.size())];
    client->async_send_request(
        std::make_shared<ListParameters::Request>(),
        [run = work(gone_)](rclcpp::Client<ListParameters>::SharedFuture) { run(); });
    if (one_in(random, 8)) {
      client->prune_pending_requests();
    }
  } else if (!publishers_.empty()) {
    const auto& publisher = publishers_[below(random, publishers_.size())];
    if (one_in(random, 2)) {
      publisher->publish(std::make_unique<Int32>());
    } else {
      publisher->publish(Int32{});
    }
  }
}

void Guest::move_to(int host, bool waits) {
  if (host_ >= 0) {
    Host& former = round_.host(host_);
    former.executor.remove_node(node_);
    if (waits) {
      former.expect_gone();
      *gone_ = true;
    }
  }
  host_ = host;
  if (host_ >= 0) {
    *gone_ = false;
    round_.host(host_).executor.add_node(node_);
  }
}

void Guest::make_lone_group(Random& random) {
  if (lone_groups_.size() >= 2) {
    return;
  }
  LoneGroup lone{
      .group = node_->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false),
      .timer = nullptr,
      .gone = std::make_shared<std::atomic<bool>>(false),
      .host = static_cast<int>(below(random, 2))};
  lone.timer = node_->create_wall_timer(3ms, work(lone.gone), lone.group);
  round_.host(lone.host).executor.add_callback_group(lone.group, node_->get_node_base_interface());
  lone_groups_.push_back(std::move(lone));
}

void Guest::drop_lone_group(bool waits) {
  if (lone_groups_.empty()) {
    return;
  }
  const LoneGroup lone = std::move(lone_groups_.back());
  lone_groups_.pop_back();
  Host& host = round_.host(lone.host);
  host.executor.remove_callback_group(lone.group);
  if (waits) {
    host.expect_gone();
    *lone.gone = true;
  }
}

// Nobody runs for longer than a moment any more: whoever is there gets its turn.
void Guest::expect_alive() {
  const std::lock_guard lock{mutex};
  if (host_ < 0) {
    return;
  }
  const auto calls = std::make_shared<std::atomic<int>>(0);
  auto timer = node_->create_wall_timer(2ms, [calls] { ++*calls; });
  expect_eventually("a timer is not called", [&] { return *calls > 2; });
}

void Guest::leave() {
  const std::lock_guard lock{mutex};
  while (!lone_groups_.empty()) {
    drop_lone_group(true);
  }
  move_to(-1, true);
}

}  // namespace

void nodes(Random& random) {
  Round round{random};
  round.play(random);
}

}  // namespace takt::fuzz
