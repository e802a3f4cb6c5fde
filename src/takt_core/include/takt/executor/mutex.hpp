// SPDX-License-Identifier: Apache-2.0
/// @file
/// A mutex with priority inheritance: its holder runs at least as urgently as the most urgent
/// thread that waits for it, so a waiter waits for one critical section at most.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <system_error>

namespace takt::executor {

/// A non-recursive mutex with the protocol PTHREAD_PRIO_INHERIT. Meets the requirements of
/// std::lock_guard and std::unique_lock.
class PriorityMutex {
 public:
  /// Creates an unlocked mutex.
  /// @throws std::system_error if the kernel has no priority inheritance.
  PriorityMutex() : PriorityMutex{PTHREAD_MUTEX_NORMAL} {}

  /// The mutex must be unlocked.
  ~PriorityMutex() { pthread_mutex_destroy(&mutex_); }
  PriorityMutex(const PriorityMutex&) = delete;
  PriorityMutex& operator=(const PriorityMutex&) = delete;
  PriorityMutex(PriorityMutex&&) = delete;
  PriorityMutex& operator=(PriorityMutex&&) = delete;

  /// Waits until the mutex is free. Locking it twice in one thread deadlocks.
  void lock() noexcept { pthread_mutex_lock(&mutex_); }

  /// Releases the mutex. By the thread that holds it.
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

  /// Locks the mutex if it is free.
  /// @return whether the calling thread now holds it.
  bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }

 protected:
  explicit PriorityMutex(int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    const int error = pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
    if (error != 0) {
      throw std::system_error{error, std::generic_category(),
                              "cannot create a mutex with priority inheritance"};
    }
  }

 private:
  pthread_mutex_t mutex_{};
};

/// A mutex with priority inheritance that its holder may lock again, for code that calls user
/// functions while it holds the mutex, which may call back.
class RecursivePriorityMutex : public PriorityMutex {
 public:
  /// Creates an unlocked mutex.
  /// @throws std::system_error if the kernel has no priority inheritance.
  RecursivePriorityMutex() : PriorityMutex{PTHREAD_MUTEX_RECURSIVE} {}
};

}  // namespace takt::executor
