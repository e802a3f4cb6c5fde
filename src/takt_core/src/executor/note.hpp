// SPDX-License-Identifier: Apache-2.0
//
// Messages from any thread to the threads of a core, lock-free: messages have arrived for a task,
// its timer is set, its data is requested. A note is complete before one exchange makes it visible,
// so a thread that is preempted before that hides no other note: no thread ever passes through a
// half-finished state.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "takt/os/clock.hpp"

namespace takt::executor {

struct TaskState;

struct Note {
  enum class Kind : std::uint8_t { arrival, release_at, disarm, look };

  Note* next = nullptr;  // in an inbox
  TaskState* task = nullptr;
  std::uint32_t generation = 0;  // of the task, which may have been removed meanwhile
  Kind kind = Kind::look;
  std::uint32_t count = 1;  // arrivals
  os::TimePoint time;       // of the arrivals; of the release
  std::int64_t value = 0;   // of each arrival; of a release: when it was set

  std::uint32_t number = 0;                  // in its pool
  std::atomic<std::uint32_t> next_free = 0;  // number + 1; 0: none
};

// Notes from any thread to one that takes all of them: a list in one word.
class Inbox {
 public:
  void post(Note& note) noexcept {
    note.next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(note.next, &note)) {
    }
  }

  [[nodiscard]] bool empty() const noexcept { return newest_.load() == nullptr; }

  // All notes, in the order in which they were posted.
  [[nodiscard]] Note* take_all() noexcept {
    Note* newest = newest_.exchange(nullptr);
    Note* oldest = nullptr;
    while (newest != nullptr) {
      Note* const before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
    }
    return oldest;
  }

 private:
  std::atomic<Note*> newest_{nullptr};
};

// Reusable notes. The free ones form a list in one word, with a tag that changes with every use, so
// that a slow thread cannot insert an outdated head (ABA).
class NotePool {
 public:
  // Ensures that there are at least so many notes. Set-up, one thread at a time; allocates. Throws
  // std::length_error above a million, which is the largest number.
  void grow_to(std::size_t notes);

  // Null when all are in use.
  [[nodiscard]] Note* take() noexcept;
  void give_back(Note& note) noexcept;

 private:
  static constexpr std::size_t chunk_size = 1024;
  static constexpr std::size_t most_chunks = 1024;

  [[nodiscard]] Note& note(std::uint32_t number) noexcept {
    return (*chunks_[number / chunk_size])[number % chunk_size];
  }

  using Chunk = std::array<Note, chunk_size>;

  std::array<std::unique_ptr<Chunk>, most_chunks> chunks_;
  std::size_t chunk_count_ = 0;
  std::atomic<std::uint64_t> first_free_{0};  // tag, then number + 1
};

}  // namespace takt::executor
