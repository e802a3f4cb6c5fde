// SPDX-License-Identifier: Apache-2.0
//
// Nodes with entities of each kind that come, change hands and go while two executors spin: the
// nodes, and a round with all that happens to them.
#pragma once

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

}  // namespace takt::fuzz
