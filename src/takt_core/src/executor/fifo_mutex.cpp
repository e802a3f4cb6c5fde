// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/fifo_mutex.hpp"

#include <mutex>

#include "crew.hpp"
#include "takt/os/event.hpp"
#include "takt/os/thread_id.hpp"
#include "thread_priority.hpp"

namespace takt::executor {

// Of one thread, which has one at a time.
struct FifoRequest {
  std::uint64_t number = 0;
  pid_t tid = 0;
  int cpu = -1;
  int priority = 0;             // of its own; 0: not a real-time one
  FifoRequest* next = nullptr;  // in the queue of its mutex
  FifoRequest* next_holder = nullptr;
  os::ThreadEvent granted;

  void begin() noexcept {
    const Crew* const crew = Crew::current();
    tid = static_cast<pid_t>(os::own_thread_id());
    cpu = crew == nullptr ? -1 : crew->cpu();
    priority = cpu >= 0 ? real_time_priority(0) : 0;
    next = nullptr;
  }
  void set_priority(int wanted) const noexcept {
    if (priority > 0) {
      set_real_time_priority(tid, wanted);
    }
  }
};

namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
thread_local FifoRequest mine;

}  // namespace

FifoRequest* RequestOrder::first_on(int cpu) const noexcept {
  FifoRequest* first = nullptr;
  for (FifoRequest* each = holders_; each != nullptr; each = each->next_holder) {
    if (each->cpu == cpu && (first == nullptr || each->number < first->number)) {
      first = each;
    }
  }
  return first;
}

// While the first holder of a core runs, the priorities of the others do not matter.
void RequestOrder::add_holder(FifoRequest& request) noexcept {
  FifoRequest* const first = first_on(request.cpu);
  request.next_holder = holders_;
  holders_ = &request;
  if (first == nullptr || request.number < first->number) {
    request.set_priority(above_all_jobs);
    if (first != nullptr) {
      first->set_priority(first->priority);
    }
  }
}

void RequestOrder::remove_holder(FifoRequest& request) noexcept {
  FifoRequest** link = &holders_;
  while (*link != &request) {
    link = &(*link)->next_holder;
  }
  *link = request.next_holder;
  if (FifoRequest* const first = first_on(request.cpu)) {
    first->set_priority(above_all_jobs);
  }
}

bool FifoMutex::request() noexcept {
  mine.begin();
  const std::lock_guard guard{order_.mutex_};
  mine.number = ++order_.last_;
  if (holder_ == nullptr) {
    holder_ = &mine;
    order_.add_holder(mine);
    return true;
  }
  FifoRequest* last = holder_;
  while (last->next != nullptr) {
    last = last->next;
  }
  last->next = &mine;
  return false;
}

void FifoMutex::wait() noexcept {
  mine.granted.wait();
}

void FifoMutex::unlock() noexcept {
  {
    const std::lock_guard guard{order_.mutex_};
    order_.remove_holder(mine);
    holder_ = mine.next;
    if (holder_ != nullptr) {
      order_.add_holder(*holder_);
      holder_->granted.notify();
    }
  }
  mine.set_priority(mine.priority);
}

}  // namespace takt::executor
