// SPDX-License-Identifier: Apache-2.0
//
// Spins the nodes of rclcpp's executors under Takt's, or reports the threads that spin them.
#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "all_executors.hpp"
#include "changed_hands.hpp"
#include "says.hpp"
#include "takt/sched/error.hpp"
#include "timed.hpp"

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

template <class Class>
bool is(const rclcpp::Executor& executor) {
  return dynamic_cast<const Class*>(&executor) != nullptr;
}

// Without its namespaces.
std::string class_of(const rclcpp::Executor& executor) {
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole{
      abi::__cxa_demangle(typeid(executor).name(), nullptr, nullptr, &failed), &std::free};
  const std::string name = whole ? whole.get() : typeid(executor).name();
  const auto colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
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

// In the place of another one; not one of the program's own.
class Replacing final : public SchedulingExecutor {
 public:
  using SchedulingExecutor::SchedulingExecutor;
};

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
      report_kept(how.executor, *fault);
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
    const auto hands = hands_of(executor);
    keep_from(executor, *hands);
    hands->add_node(node, notify, stock);
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
    const auto hands = hands_of(executor);
    keep_from(executor, *hands);
    hands->add_group(group, node, notify, stock);
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

  void poll(rclcpp::Executor& executor, const char* function,
            const std::function<void(rclcpp::Executor&)>& act, const Stock& stock) override {
    if (function != nullptr) {
      stays(executor, function);
    }
    const auto other = hands_of(executor)->other();
    if (other) {
      act(*other->executor);
    } else {
      stock();
    }
  }

  void stays(const rclcpp::Executor& executor, const char* function) override {
    if (!replaces_ || is<Replacing>(executor) ||
        !(is_one_of_rclcpp(executor) || is<SchedulingExecutor>(executor))) {
      return;  // meet() names the others, and poll() what it replaces
    }
    const std::string name = std::string{function} + "() of " + class_of(executor);
    const std::lock_guard lock{mutex_};
    if (met_.insert(name).second) {
      const std::string why = "it runs callbacks in rclcpp's order; call spin() in its place";
      say(name + " stays with rclcpp: " + why);
      report("kept", {name, why});
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

  // Null, with the fault: the timing does not allow it.
  std::shared_ptr<Together> make(rclcpp::Executor& executor, ChangedHands& hands,
                                 std::size_t threads, std::optional<std::string>& fault) {
    try {
      auto created = std::make_shared<Together>();
      created->timed = timed(threads, ordinal_.fetch_add(1));
      rclcpp::ExecutorOptions of_base;
      of_base.context = hands.context();
      if (of_base.context == nullptr) {
        of_base.context = Open::context(executor);
      }
      const Passing straight;
      created->executor = std::make_shared<Replacing>(created->timed.options, of_base);
      return created;
    } catch (const takt::sched::ScheduleError& error) {
      fault = error.what();
      return nullptr;
    }
  }

  // Returns why it stays with the stock executor; nothing: it has spun.
  std::optional<std::string> spin_here(rclcpp::Executor& executor, ChangedHands& hands,
                                       const Spin& how) {
    std::optional<std::string> fault;
    std::shared_ptr<Together> other = hands.other();
    const bool for_good = other != nullptr;
    if (!for_good) {
      other = make(executor, hands, how.threads, fault);
      if (!fault) {
        fault = hands.give(executor, other);
      }
      if (fault) {
        return fault;
      }
    }
    announce(how, other->timed, hands.names());
    // Set only here: an executor that spins does not let go of what its wait set has.
    Open::spins(executor).store(true);
    std::exception_ptr error;
    try {
      spin_to_its_end(*other->executor, how);
    } catch (const takt::sched::ScheduleError& wrong) {
      fault = wrong.what();
    } catch (...) {
      error = std::current_exception();
    }
    Open::spins(executor).store(false);
    if (!for_good || fault) {
      hands.take_back(executor);
    }
    other->timed.report_unmatched();
    if (error) {
      std::rethrow_exception(error);
    }
    return fault;
  }

  // Executors that listen to what they have from the moment they have it, and so never have any:
  // of what comes before spin() nobody else is told, and an EventsCBGExecutor calls timers that
  // have become due by then after they have gone.
  void keep_from(rclcpp::Executor& executor, ChangedHands& hands) {
    const std::size_t threads = threads_of_listening(executor);
    if (threads == 0 || !replaces_ || !hands.is_new()) {
      return;
    }
    std::optional<std::string> fault;
    if (auto other = make(executor, hands, threads, fault)) {
      hands.keep(std::move(other));
    } else {
      report_kept(class_of(executor), *fault);
    }
  }

  // 0: it is another one.
  static std::size_t threads_of_listening(const rclcpp::Executor& executor) {
#ifdef TAKT_HAS_CBG_EXECUTOR
    using ByGroup = rclcpp::executors::EventsCBGExecutor;
    if (const auto* const cbg = dynamic_cast<const ByGroup*>(&executor)) {
      return cbg->get_number_of_threads();
    }
#endif
    return is<rclcpp::experimental::executors::EventsExecutor>(executor) ? 1 : 0;
  }

  static void report_kept(const std::string& name, const std::string& why) {
    say(name + " stays as it is: " + why);
    report("kept", {name, why});
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

  static void announce(const Spin& how, const Timed& timed, const std::vector<std::string>& nodes) {
    const std::string threads = std::to_string(how.threads);
    say(std::string{how.executor} + " (" + threads + (how.threads == 1 ? " thread" : " threads") +
        ") spins under Takt's executor: " + timed.in_words() + "; nodes: " + joined(nodes));
    report("replaced", {how.executor, threads, std::string{timed.options.scheduling.policy->name()},
                        timed.cores(), joined(nodes)});
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
