// SPDX-License-Identifier: Apache-2.0
//
// A mutex with priority inheritance: whoever holds it runs at least as urgently as the most urgent
// thread that waits for it, so a waiter waits for the length of a critical section and no longer.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <system_error>

namespace takt::executor {

class PriorityMutex {
 public:
  // Throws std::system_error where the kernel has no priority inheritance.
  PriorityMutex() : PriorityMutex{PTHREAD_MUTEX_NORMAL} {}
  ~PriorityMutex() { pthread_mutex_destroy(&mutex_); }
  PriorityMutex(const PriorityMutex&) = delete;
  PriorityMutex& operator=(const PriorityMutex&) = delete;
  PriorityMutex(PriorityMutex&&) = delete;
  PriorityMutex& operator=(PriorityMutex&&) = delete;

  // The names that std::lock_guard and std::unique_lock ask of a mutex.
  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }
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

// Which the thread that holds it may lock again. For what is held around functions of users, who
// may ask back.
class RecursivePriorityMutex : public PriorityMutex {
 public:
  RecursivePriorityMutex() : PriorityMutex{PTHREAD_MUTEX_RECURSIVE} {}
};

}  // namespace takt::executor
