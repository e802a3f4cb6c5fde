// SPDX-License-Identifier: Apache-2.0
//
// What hooks of the middleware are given in place of a pointer. The middleware may call a hook
// while another thread destroys what it is for, and nobody can tell when it is through: a key of a
// door that has been closed opens nothing, and who is inside when it is closed keeps what is there
// until it has left. Nothing waits for anybody.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core_names.hpp"
#include "takt/executor/detail/table.hpp"
#include "takt/executor/mutex.hpp"

namespace takt_rclcpp {

template <class Inside>
class Doors {
 public:
  // As large as a pointer, which is what C hands on.
  using Key = std::uintptr_t;

  // Set-up. Allocates.
  Key open(std::shared_ptr<Inside> inside) {
    const std::lock_guard lock{mutex_};
    std::uint32_t number = used_.load(std::memory_order_relaxed);
    if (free_.empty()) {
      doors_.grow_to(number + std::size_t{1});
      free_.reserve(number + std::size_t{1});  // closing allocates nothing
      used_.store(number + 1, std::memory_order_release);
    } else {
      number = free_.back();
      free_.pop_back();
    }
    Door& door = doors_[number];
    door.inside = std::move(inside);
    const Key round = door.round.load(std::memory_order_relaxed);
    door.state.store(State{round} << half, std::memory_order_release);
    return round << key_half | number;
  }

  // From any thread. What is inside is let go of, by this thread or by the last one to leave.
  void close(Key key) noexcept {
    Door& door = doors_[number_of(key)];
    if (people(door.state.fetch_or(closing)) == 0) {
      clear(number_of(key));
    }
  }

  // From any thread, without locks. Does nothing where that door has been closed.
  template <class Act>
  void enter(Key key, Act act) {
    // What the door is in has been made before: whatever way the key has come.
    if (number_of(key) >= used_.load(std::memory_order_acquire)) {
      return;
    }
    Door& door = doors_[number_of(key)];
    State state = door.state.load(std::memory_order_acquire);
    do {
      if (state >> half != key >> key_half || (state & closing) != 0) {
        return;
      }
    } while (!door.state.compare_exchange_weak(state, state + 1));
    act(*door.inside);
    const State before = door.state.fetch_sub(1);
    if ((before & closing) != 0 && people(before) == 1) {
      clear(number_of(key));
    }
  }

 private:
  using State = std::uint64_t;  // the round of its use, whether it is being closed, who is inside
  static constexpr unsigned half = 32;
  static constexpr State closing = State{1} << (half - 1);
  static constexpr unsigned key_half = sizeof(Key) * CHAR_BIT / 2;

  struct Door {
    std::atomic<State> state{closing};
    std::atomic<Key> round{1};  // no key is null, which C gives where it has none
    std::shared_ptr<Inside> inside;
  };

  static std::uint32_t people(State state) noexcept {
    return static_cast<std::uint32_t>(state & (closing - 1));
  }
  static std::uint32_t number_of(Key key) noexcept {
    return static_cast<std::uint32_t>(key & ((Key{1} << key_half) - 1));
  }

  void clear(std::uint32_t number) noexcept {
    Door& door = doors_[number];
    const std::shared_ptr<Inside> gone = std::move(door.inside);  // destroyed without the lock
    const std::lock_guard lock{mutex_};
    door.round.store((door.round.load(std::memory_order_relaxed) + 1) & ((Key{1} << key_half) - 1),
                     std::memory_order_relaxed);
    free_.push_back(number);
  }

  executor::PriorityMutex mutex_;
  executor::Table<Door> doors_;
  std::atomic<std::uint32_t> used_{0};
  std::vector<std::uint32_t> free_;
};

// A door of the process, as long as this is there, and what its hook is given.
template <class Inside, Doors<Inside>& (*Of)()>
class Door {
 public:
  explicit Door(std::shared_ptr<Inside> inside) : key_{Of().open(std::move(inside))} {}
  ~Door() { Of().close(key_); }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  Door(Door&&) = delete;
  Door& operator=(Door&&) = delete;

  [[nodiscard]] const void* key() const noexcept {
    // NOLINTNEXTLINE(*-reinterpret-cast,performance-no-int-to-ptr): rcl hands it on as it is
    return reinterpret_cast<const void*>(key_);
  }
  // From the hook.
  template <class Act>
  static void enter(const void* key, Act act) {
    // NOLINTNEXTLINE(*-reinterpret-cast): see key()
    Of().enter(reinterpret_cast<typename Doors<Inside>::Key>(key), act);
  }

 private:
  const typename Doors<Inside>::Key key_;
};

}  // namespace takt_rclcpp
