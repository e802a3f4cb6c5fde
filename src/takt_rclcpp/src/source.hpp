// SPDX-License-Identifier: Apache-2.0
//
// What the executor below runs for one entity of a node. The entity is its node's: when that lets
// go of it, jobs do nothing, until the task is taken out.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core_names.hpp"
#include "releases.hpp"
#include "takt/executor/input.hpp"
#include "takt/executor/job_source.hpp"
#include "takt/executor/mutex.hpp"
#include "takt/os/event.hpp"
#include "takt/rclcpp/timing.hpp"

namespace takt_rclcpp {

class Publications;

// What all callbacks of an executor share. It rings for the thread that spins: something has
// changed, or a callback threw.
class Bell {
 public:
  // Where they record what they publish; null: nowhere. `publications` outlives them.
  explicit Bell(Publications* publications = nullptr) : publications_{publications} {}
  [[nodiscard]] Publications* publications() const noexcept { return publications_; }

  void ring() noexcept { event_.notify(); }
  // The first one is kept.
  void fail(std::exception_ptr error) noexcept;
  void wait_until(os::TimePoint deadline) noexcept { event_.wait_until(deadline); }
  [[nodiscard]] bool failed() const noexcept { return failed_.load(); }
  // Null: none. The next one is kept then.
  [[nodiscard]] std::exception_ptr take_error() noexcept;

 private:
  Publications* const publications_;
  os::ThreadEvent event_;
  std::atomic<bool> failed_{false};
  executor::PriorityMutex mutex_;
  std::exception_ptr error_;
};

// Whether a job runs, for whoever looks from elsewhere: odd while one does.
struct Running {
  std::atomic<std::uint64_t> count{0};
  std::atomic<int> thread{0};
};

// One callback group. Those of its callbacks that share a core exclude each other by their order
// (Task::group), those with threads of their own by the lock. It inherits priorities, and each job
// takes it, also where nobody has a thread of its own yet: nobody can lend its priority to one that
// began without.
class Group {
 public:
  std::string node;         // empty: not known
  std::size_t ordinal = 0;  // among those of its node
  std::size_t place = 0;    // among all that the executor has met
  std::string name;
  bool exclusive = true;

  // Around each job of each callback.
  [[nodiscard]] std::unique_lock<executor::PriorityMutex> enter() {
    return exclusive ? std::unique_lock{mutex_} : std::unique_lock<executor::PriorityMutex>{};
  }

 private:
  executor::PriorityMutex mutex_;
};

class MessageSource;

class Source : public executor::JobSource {
 public:
  Source(CallbackId id, sched::Task task, std::shared_ptr<Group> group, std::shared_ptr<Bell> bell)
      : group_{std::move(group)},
        bell_{std::move(bell)},
        description_{new Description{.id = std::move(id), .task = std::move(task)}} {}

  // So many of its jobs may run at once. Before its task is added.
  void make_lanes(std::size_t count) { handles_.resize(count); }
  [[nodiscard]] std::size_t lanes() const noexcept { return handles_.size(); }

  [[nodiscard]] sched::Task describe() const final { return description_->task; }
  void arm(const executor::ReleaseHandle& release) final { arm(release, 0); }
  // It listens when all of its lanes are armed, until the first one is disarmed.
  void arm(const executor::ReleaseHandle& release, std::size_t lane);
  void disarm() noexcept final;
  // For good, from any thread, before the executor below knows of it: another one may have the
  // entity. Jobs that are still to begin do nothing.
  void let_go() noexcept;
  [[nodiscard]] bool is_let_go() const noexcept { return is_let_go_.load(); }
  executor::Outcome run(const sched::Job& job) final;
  // A job of a lane, of which `running` is.
  executor::Outcome run(const sched::Job& job, Running& running);
  // Before that, on the same thread: what has arrived for a callback that this one reads, which is
  // in its group or in a Reentrant one.
  executor::Delivered deliver(MessageSource& from) noexcept;

  [[nodiscard]] const CallbackId& id() const noexcept { return description_->id; }
  [[nodiscard]] Group& group() const noexcept { return *group_; }
  [[nodiscard]] const Running& running() const noexcept { return running_; }
  // Has to be made anew: it follows another kind of clock now.
  [[nodiscard]] virtual bool is_outdated() const { return false; }
  // Set-up, again: what could not be done in the loop. From the thread that spins.
  virtual void catch_up() {}
  // Now and then: the middleware was seen not to tell of a request. From the thread that spins.
  void look_again();

 protected:
  // From one thread at a time; silence() only after listen().
  virtual void listen(const Releases& releases) = 0;
  virtual void listen_again() {}
  virtual void silence() noexcept = 0;
  virtual void work(const sched::Job& job) = 0;
  [[nodiscard]] Bell& bell() const noexcept { return *bell_; }
  [[nodiscard]] const std::shared_ptr<Bell>& shared_bell() const noexcept { return bell_; }

 private:
  // By what it was just asked of: that may have come to listen only afterwards.
  void hush_where_let_go() noexcept;
  // A job or a part of one, for whoever looks from elsewhere.
  template <class Act>
  void run_part(Running& running, bool in_group, Act act) noexcept;

  struct Description {
    CallbackId id;
    sched::Task task;
  };

  // What each job looks at lies together, and right before what the derived class has.
  Running running_;
  std::atomic<bool> listens_{false};  // this and the next one are written under the mutex
  std::atomic<bool> is_let_go_{false};
  const std::shared_ptr<Group> group_;
  const std::shared_ptr<Bell> bell_;
  const std::unique_ptr<const Description> description_;
  std::vector<executor::ReleaseHandle> handles_ =
      std::vector<executor::ReleaseHandle>(1);  // of its lanes
  std::size_t armed_ = 0;                       // of them
  executor::RecursivePriorityMutex arming_;     // a waitable, asked to tell, may let its node go
};

// One more task of a source, of which several jobs may run at once.
class Lane final : public executor::JobSource {
 public:
  // `number`: from 1, for the first one is the source itself.
  Lane(std::shared_ptr<Source> source, std::size_t number)
      : source_{std::move(source)}, number_{number} {}

  [[nodiscard]] sched::Task describe() const override;
  void arm(const executor::ReleaseHandle& release) override { source_->arm(release, number_); }
  void disarm() noexcept override { source_->disarm(); }
  executor::Outcome run(const sched::Job& job) override { return source_->run(job, running_); }

 private:
  const std::shared_ptr<Source> source_;
  const std::size_t number_;
  Running running_;
};

}  // namespace takt_rclcpp
