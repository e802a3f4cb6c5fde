// SPDX-License-Identifier: Apache-2.0
//
// Spins the nodes of rclcpp's executors under Takt's, or reports the threads that spin them.
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "all_executors.hpp"
#include "changed_hands.hpp"
#include "says.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt_rclcpp::spin {
namespace {

// What rclcpp's executor keeps to those below it.
class Open : public rclcpp::Executor {
 public:
  Open() = delete;
  static std::atomic_bool& spins(rclcpp::Executor& of) { return of.*(&Open::spinning); }
  static const rclcpp::Context::SharedPtr& context(rclcpp::Executor& of) {
    return of.*(&Open::context_);
  }
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text.empty() ? "none yet" : text;
}

std::string cores(const std::vector<int>& numbers) {
  std::string text = numbers.size() == 1 ? "core" : "cores";
  for (const int number : numbers) {
    text += ' ' + std::to_string(number);
  }
  return text;
}

template <class Class>
bool is(const rclcpp::Executor& executor) {
  return dynamic_cast<const Class*>(&executor) != nullptr;
}

bool is_one_of_rclcpp(const rclcpp::Executor& executor) {
#ifdef TAKT_HAS_CBG_EXECUTOR
  if (is<rclcpp::executors::EventsCBGExecutor>(executor)) {
    return true;
  }
#endif
#ifdef TAKT_HAS_STATIC_EXECUTOR
  if (is<rclcpp::executors::StaticSingleThreadedExecutor>(executor)) {
    return true;
  }
#endif
  return is<rclcpp::executors::SingleThreadedExecutor>(executor) ||
         is<rclcpp::executors::MultiThreadedExecutor>(executor) ||
         is<rclcpp::experimental::executors::EventsExecutor>(executor);
}

std::string identity(const rclcpp::Executor& of) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(&of));
}

// The timing of one executor, with what becomes known of the callbacks.
struct Timed {
  TimingFile file;
  std::shared_ptr<std::vector<CallbackId>> met = std::make_shared<std::vector<CallbackId>>();
};

Timed timing_of_user() {
  Timed result;
  if (const std::string path = variable(timing_variable); !path.empty()) {
    result.file = load_timing(path);
  }
  return result;
}

Options options_for(const Timed& timed, std::size_t threads, std::size_t ordinal) {
  Options options;
  options.nodes_come_later = true;
  std::vector<int> cpus =
      timed.file.cpus.empty() ? takt::os::current_thread().cpus : timed.file.cpus;
  if (!cpus.empty() && timed.file.cpus.empty()) {  // processes of one robot begin on other cores
    const auto first = (static_cast<std::size_t>(::getpid()) + ordinal) % cpus.size();
    std::ranges::rotate(cpus, cpus.begin() + static_cast<std::ptrdiff_t>(first));
  }
  if (timed.file.policy) {
    options.scheduling.policy = timed.file.policy;
  } else if (threads == 1) {
    // The author's callbacks never ran side by side, nor one within another. They still do not.
    options.scheduling.policy = takt::sched::non_preemptive_fixed_priority();
    cpus.resize(std::min<std::size_t>(cpus.size(), 1));
  }
  options.scheduling.cpus = cpus;
  // One file is for all processes: an entry of another one's node is no fault here.
  if (timed.file.rule) {
    options.timing = [rule = timed.file.rule, met = timed.met](const CallbackId& id) {
      met->push_back(id);
      return rule(id);
    };
  }
  return options;
}

class Spinning final : public Takeover {
 public:
  void spin(rclcpp::Executor& executor, const Spin& how, const Stock& stock) override {
    if (!replaces_) {
      if (how.threads == 1) {
        run(executor, how.executor, stock);
      } else {
        stock();  // each of its threads runs by itself
      }
      return;
    }
    const auto hands = hands_of(executor);
    if (Open::spins(executor).load() || hands->spins.exchange(true)) {
      throw std::runtime_error{"spin() called while already spinning"};
    }
    std::optional<std::string> fault;
    std::exception_ptr error;
    try {
      fault = spin_here(executor, *hands, how);
    } catch (...) {
      error = std::current_exception();
    }
    hands->spins.store(false);
    if (error) {
      std::rethrow_exception(error);
    }
    if (fault) {
      say(std::string{how.executor} + " stays as it is: " + *fault);
      report("kept", {how.executor, *fault});
      stock();
    }
  }

  void run(rclcpp::Executor& executor, const char* name, const Stock& stock) override {
    const std::string thread = std::to_string(::gettid());
    report("thread", {name, thread, identity(executor), joined(hands_of(executor)->names())});
    const struct AtEnd {
      std::string thread;
      ~AtEnd() { report("ended", {thread}); }
    } at_end{thread};
    stock();
  }

  void add_node(rclcpp::Executor& executor, const NodePointer& node, bool notify,
                const Stock& stock) override {
    if (Passing::on()) {
      stock();
      return;
    }
    meet(executor);
    hands_of(executor)->add_node(node, notify, stock);
    if (!replaces_) {
      report("node", {identity(executor), node->get_fully_qualified_name()});
    }
  }

  void remove_node(rclcpp::Executor& executor, const NodePointer& node, bool notify,
                   const Stock& stock) override {
    if (Passing::on()) {
      stock();
    } else {
      hands_of(executor)->remove_node(node, notify, stock);
    }
  }

  void add_group(rclcpp::Executor& executor, const GroupPointer& group, const NodePointer& node,
                 bool notify, const Stock& stock) override {
    if (Passing::on()) {
      stock();
      return;
    }
    meet(executor);
    hands_of(executor)->add_group(group, node, notify, stock);
  }

  void remove_group(rclcpp::Executor& executor, const GroupPointer& group, bool notify,
                    const Stock& stock) override {
    if (Passing::on()) {
      stock();
    } else {
      hands_of(executor)->remove_group(group, notify, stock);
    }
  }

  Groups groups(rclcpp::Executor& executor, AskGroups which,
                const std::function<Groups()>& stock) override {
    return Passing::on() ? stock() : hands_of(executor)->groups(which, stock);
  }

  void cancel(rclcpp::Executor& executor, const Stock& stock) override {
    if (Passing::on()) {
      stock();
    } else {
      hands_of(executor)->cancel(stock);
    }
  }

  void forget(const rclcpp::Executor& executor) override {
    std::shared_ptr<ChangedHands> gone;
    const std::lock_guard lock{mutex_};
    if (const auto found = known_.find(&executor); found != known_.end()) {
      gone = std::move(found->second);
      known_.erase(found);
    }
  }

 private:
  std::shared_ptr<ChangedHands> hands_of(const rclcpp::Executor& executor) {
    const std::lock_guard lock{mutex_};
    auto& found = known_[&executor];
    if (!found) {
      found = std::make_shared<ChangedHands>();
    }
    return found;
  }

  // Returns why it stays with the stock executor; nothing: it has spun.
  std::optional<std::string> spin_here(rclcpp::Executor& executor, ChangedHands& hands,
                                       const Spin& how) {
    Timed timed;
    std::shared_ptr<SchedulingExecutor> other;
    try {
      timed = timing_of_user();
      rclcpp::ExecutorOptions of_base;
      of_base.context = hands.context();
      if (of_base.context == nullptr) {
        of_base.context = Open::context(executor);
      }
      const Options options = options_for(timed, how.threads, ordinal_.fetch_add(1));
      announce(how, options, hands.names());
      const Passing straight;
      other = std::make_shared<SchedulingExecutor>(options, of_base);
    } catch (const takt::sched::ScheduleError& error) {
      return error.what();
    }
    if (auto fault = hands.give(executor, other)) {
      return fault;
    }
    // Set only here: an executor that spins does not let go of what its wait set has.
    Open::spins(executor).store(true);
    std::optional<std::string> fault;
    std::exception_ptr error;
    try {
      spin_to_its_end(*other, how);
    } catch (const takt::sched::ScheduleError& wrong) {
      fault = wrong.what();
    } catch (...) {
      error = std::current_exception();
    }
    Open::spins(executor).store(false);
    const auto context = hands.context();
    hands.take_back(executor, how.ends_with_context && context && !context->is_valid());
    tell_of_unmatched(timed);
    if (error) {
      std::rethrow_exception(error);
    }
    return fault;
  }

  static void spin_to_its_end(SchedulingExecutor& other, const Spin& how) {
    for (bool again = true; again;) {
      again = false;
      try {
        other.spin();
      } catch (const takt::sched::ScheduleError&) {
        throw;
      } catch (const std::exception& error) {
        if (how.handler == nullptr) {
          throw;
        }
        (*how.handler)(error);
        again = true;
      }
    }
  }

  static void announce(const Spin& how, const Options& options,
                       const std::vector<std::string>& nodes) {
    const std::string policy{options.scheduling.policy->name()};
    const std::string where = cores(options.scheduling.cpus);
    const bool alone =
        !options.scheduling.policy->preemptive() && options.scheduling.cpus.size() == 1;
    say(std::string{how.executor} + " (" + std::to_string(how.threads) +
        (how.threads == 1 ? " thread" : " threads") + ") spins under Takt's executor: " + policy +
        ", " + where + (alone ? ", one callback at a time" : "") + "; nodes: " + joined(nodes));
    report("replaced", {how.executor, std::to_string(how.threads), policy, where, joined(nodes)});
  }

  static void tell_of_unmatched(const Timed& timed) {
    if (!timed.file.rule) {
      return;
    }
    for (const Unmatched& entry : unmatched_entries(timed.file.rule, *timed.met)) {
      report("unmatched", {entry.where, entry.problem, entry.fix});
    }
    report("read", {variable(timing_variable)});
  }

  // Executors of a program's own cannot be replaced: what they are for is not known.
  void meet(const rclcpp::Executor& executor) {
    if (!replaces_ || is_one_of_rclcpp(executor) || is<SchedulingExecutor>(executor)) {
      return;
    }
    const std::string name = typeid(executor).name();
    const std::lock_guard lock{mutex_};
    if (met_.insert(name).second) {
      say("an executor class of its own (" + name +
          ") stays as it is: use one of rclcpp's, or takt_rclcpp::SchedulingExecutor in its place");
      report("kept", {name, "an executor class of the program's own"});
    }
  }

  const bool replaces_ = variable(executor_variable) == "takt";
  std::mutex mutex_;
  std::map<const rclcpp::Executor*, std::shared_ptr<ChangedHands>> known_;
  std::set<std::string> met_;
  std::atomic<std::size_t> ordinal_{0};
};

}  // namespace
}  // namespace takt_rclcpp::spin

extern "C" __attribute__((visibility("default"))) takt_rclcpp::Takeover* takt_spin_takeover() {
  // Never destroyed: executors of static objects end after it would.
  static auto* const spinning = new takt_rclcpp::spin::Spinning;
  return spinning;
}
