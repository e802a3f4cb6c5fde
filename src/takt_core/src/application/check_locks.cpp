// SPDX-License-Identifier: Apache-2.0
//
// What an application must not say of its locks.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "parse_locks.hpp"
#include "robot.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::application {
namespace {

struct Fault {
  std::string where;
  std::string problem;
  std::string fix;
};

// Every fault of what an application says of its locks.
class Faults {
 public:
  explicit Faults(const Application& application) : application_{application} {
    for (const Callback& callback : application.callbacks) {
      if (!callback.critical_sections.empty()) {
        check_form(callback);
        check_nesting(callback);
        check_company(callback);
      }
    }
    check_order();
    if (std::ranges::any_of(application.callbacks, &Callback::holds_locks)) {
      check_application();
    }
  }

  void refuse() const {
    if (faults_.empty()) {
      return;
    }
    std::string problem = faults_.front().problem;
    std::string fix = faults_.front().fix;
    for (std::size_t i = 1; i < faults_.size(); ++i) {
      problem += "; " + faults_[i].where + ": " + faults_[i].problem;
      fix += "; " + faults_[i].fix;
    }
    throw sched::ScheduleError(faults_.front().where, problem, fix);
  }

 private:
  struct OneProcess {};

  // Of a robot, whose callbacks have been looked at.
  Faults(const Application& process, OneProcess /*unused*/) : application_{process} {
    if (std::ranges::any_of(process.callbacks, &Callback::holds_locks)) {
      check_policies();
    }
  }

  [[nodiscard]] std::string lock_text(std::size_t lock) const {
    return "lock " + sched::name_text(application_.locks[lock].name);
  }

  [[nodiscard]] std::string text(const CriticalSection& section) const {
    return "the section of " + lock_text(section.lock) + " from " +
           sched::time_text(section.begin) + " to " + sched::time_text(section.end());
  }

  void add(const std::string& where, const std::string& problem, const std::string& fix) {
    faults_.push_back({.where = where, .problem = problem, .fix = fix});
  }

  void check_form(const Callback& callback) {
    const std::vector<CriticalSection>& sections = callback.critical_sections;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (sections[i].end() > callback.execution.worst) {
        add(sched::task_text(callback.task),
            text(sections[i]) + " ends after the longest execution time, " +
                sched::time_text(callback.execution.worst),
            "shorten the section, or raise wcet");
      }
      for (std::size_t j = i + 1; j < sections.size(); ++j) {
        if (sections[j].begin < sections[i].end() && sections[j].end() > sections[i].end()) {
          add(sched::task_text(callback.task),
              text(sections[i]) + " and " + text(sections[j]) + " overlap in part",
              "let one contain the other, or let one begin after the other");
        }
      }
    }
  }

  void check_nesting(const Callback& callback) {
    const std::vector<CriticalSection>& sections = callback.critical_sections;
    const auto around = enclosing(sections);
    for (std::size_t i = 0; i < sections.size(); ++i) {
      for (const std::size_t outer : around[i]) {
        const std::size_t inner_lock = sections[i].lock;
        const std::size_t outer_lock = sections[outer].lock;
        if (inner_lock == outer_lock) {
          add(sched::task_text(callback.task),
              "it takes " + lock_text(inner_lock) + " while it holds it, and waits for itself",
              "remove the inner section");
          continue;
        }
        if (application_.locks[inner_lock].protocol != application_.locks[outer_lock].protocol) {
          add(sched::task_text(callback.task),
              "it takes " + lock_text(inner_lock) + " while it holds " + lock_text(outer_lock) +
                  ", which has another protocol",
              "give both the same protocol, or do not nest their sections");
        }
        if (goes_across_cores(application_.locks[inner_lock].protocol)) {
          add(sched::task_text(callback.task),
              "it takes " + lock_text(inner_lock) + " while it holds " + lock_text(outer_lock) +
                  ", and sections of locks across cores are not analysed inside each other",
              "put one after the other");
        }
        taken_inside_.emplace(outer_lock, inner_lock);
      }
    }
  }

  // What a callback that takes a lock cannot be besides.
  void check_company(const Callback& callback) {
    const std::string where = sched::task_text(callback.task);
    if (callback.lanes > 1 || callback.reentrant) {
      add(where, "several of its jobs may run at once, and it takes a lock",
          "remove at_once or critical_sections");
    }
    if (callback.task.kind != sched::TaskKind::message || callback.node.empty()) {
      return;
    }
    for (const Callback& reader : application_.callbacks) {
      if (&reader != &callback && reader.node == callback.node &&
          std::ranges::count(reader.task.reads, callback.task.trigger, &sched::Read::topic) > 0) {
        add(where,
            "it takes a lock, and " + sched::task_text(reader.task) +
                " of its node runs it, which is not analysed with locks",
            "put them into different nodes");
      }
    }
  }

  // Some circle of locks that wait for each other.
  void check_order() {
    for (std::size_t lock = 0; lock < application_.locks.size(); ++lock) {
      std::vector<std::size_t> path{lock};
      if (const auto circle = leads_back(path)) {
        std::string text = lock_text(circle->back());
        for (const std::size_t next : *circle) {
          text += ", then " + lock_text(next);
        }
        add(lock_text(lock),
            "callbacks take locks in a circle, and may wait for each other: " + text,
            "take them in the same order everywhere");
        return;
      }
    }
  }

  std::optional<std::vector<std::size_t>> leads_back(std::vector<std::size_t>& path) {
    for (const auto& [outer, inner] : taken_inside_) {
      if (outer != path.back()) {
        continue;
      }
      if (inner == path.front()) {
        std::vector<std::size_t> circle{path.begin() + 1, path.end()};
        circle.push_back(inner);
        return circle;
      }
      if (!visited_.emplace(path.front(), inner).second) {
        continue;
      }
      path.push_back(inner);
      if (auto circle = leads_back(path)) {
        return circle;
      }
      path.pop_back();
    }
    return {};
  }

  void check_application() {
    if (application_.processes.empty()) {
      check_policies();
      return;
    }
    check_processes();
    for (std::size_t i = 0; faults_.empty() && i < application_.processes.size(); ++i) {
      Faults process{process_of(application_, i), OneProcess{}};
      std::ranges::move(process.faults_, std::back_inserter(faults_));
    }
  }

  // A mutex is memory of one process, which has one core.
  void check_processes() {
    for (std::size_t lock = 0; lock < application_.locks.size(); ++lock) {
      std::set<std::size_t> processes;
      for (const Callback& callback : application_.callbacks) {
        if (takes(callback, lock)) {
          processes.insert(callback.process);
        }
      }
      if (processes.size() > 1) {
        add(lock_text(lock),
            "it belongs to one process, and callbacks of " +
                sched::name_text(application_.processes[*processes.begin()].name) + " and " +
                sched::name_text(application_.processes[*std::next(processes.begin())].name) +
                " take it",
            "give each process a lock of its own, and send messages between them");
      }
      if (!processes.empty() && goes_across_cores(application_.locks[lock].protocol)) {
        add(lock_text(lock), its_protocol(lock) + ", which is not analysed in processes of a robot",
            "use inheritance or ceiling, with all who take it on one core of the process");
      }
    }
  }

  void check_policies() {
    const std::string where = "the application";
    if (sched::has_threads(application_.policy)) {
      add(where, "locks between the threads of " + application_.policy + " are not analysed yet",
          "put the callbacks that take it into one group in place of critical_sections, or use an "
          "executor of one thread");
      return;
    }
    if (sched::stock_executor(application_.policy)) {
      check_across(false);
      return;
    }
    check_policy(*sched::parse_policy(application_.policy));
    if (!application_.strategy) {
      return;
    }
    for (const sched::ScenarioPtr& scenario : application_.strategy->scenarios()) {
      if (faults_.empty() && scenario->policy()) {
        check_policy(*scenario->policy());
      }
    }
  }

  void check_policy(const sched::Policy& policy) {
    check_across(policy.preemptive());
    if (policy.preemptive() && !policy.fixed_priority()) {
      check_by_deadline(policy);
    }
  }

  void check_across(bool preemptive) {
    for (std::size_t lock = 0; lock < application_.locks.size(); ++lock) {
      const LockProtocol protocol = application_.locks[lock].protocol;
      if (!goes_across_cores(protocol) || !is_taken(lock)) {
        continue;
      }
      const std::string its = its_protocol(lock);
      if (!preemptive) {
        add(lock_text(lock), its + ", which is not analysed under this policy",
            protocol == LockProtocol::spin ? "use fp, rm, dm or edf" : "use fp, rm or dm");
      }
      for (const Core& core : application_.cores) {
        if (core.supply || !core.interrupts.empty()) {
          add(lock_text(lock),
              its + ", and core " + std::to_string(core.cpu) +
                  " has a supply or interrupts, which may keep a holder from its core",
              "remove them, or use a lock on one core");
        }
      }
      if (protocol == LockProtocol::fmlp_plus) {
        check_company_of_waiting(lock, its);
      }
    }
  }

  // What else keeps the core, or may be kept by a job that waits without it.
  void check_company_of_waiting(std::size_t lock, const std::string& its) {
    for (std::size_t other = 0; other < application_.locks.size(); ++other) {
      if (application_.locks[other].protocol != LockProtocol::fmlp_plus && is_taken(other)) {
        add(lock_text(lock), its + ", and that of " + lock_text(other) + " is another one",
            "give all locks the protocol fmlp+, or none");
      }
    }
    for (const Callback& callback : application_.callbacks) {
      if (!callback.task.group.empty()) {
        add(sched::task_text(callback.task),
            "it is in a group, which is not analysed together with locks of the protocol fmlp+",
            "use a lock in place of the group");
      }
    }
  }

  void check_by_deadline(const sched::Policy& policy) {
    if (policy.name() != "edf") {
      add("policy " + sched::name_text(policy.name()), "locks are not analysed under it",
          "use fp, rm, dm, edf or np-edf");
      return;
    }
    for (const Callback& callback : application_.callbacks) {
      refuse_ages(sched::task_text(callback.task), callback.task.reads);
    }
    if (application_.strategy) {
      for (const sched::ScenarioPtr& scenario : application_.strategy->scenarios()) {
        for (const sched::TaskChange& change : scenario->tasks()) {
          refuse_ages("task " + sched::name_text(change.task), change.reads);
        }
      }
    }
    for (std::size_t lock = 0; lock < application_.locks.size(); ++lock) {
      if (application_.locks[lock].protocol == LockProtocol::inheritance && is_taken(lock)) {
        add(lock_text(lock), "its protocol is inheritance, which is not analysed under edf",
            "use the protocol ceiling");
      }
      if (application_.locks[lock].protocol == LockProtocol::fmlp_plus && is_taken(lock)) {
        add(lock_text(lock), "its protocol is fmlp+, which is not analysed under edf",
            "use the protocol spin, or fp, rm or dm");
      }
    }
  }

  // Under edf.
  void refuse_ages(const std::string& where, const std::vector<sched::Read>& reads) {
    for (const sched::Read& read : reads) {
      if (read.max_age.count() > 0) {
        add(where,
            "it has a maximum age of topic " + sched::name_text(read.topic) +
                ": a job that is released early for it is due before its relative deadline says, "
                "on which the ceilings of locks depend under edf",
            "use fp, rm or dm, or limit a chain by max_latency");
      }
    }
  }

  [[nodiscard]] static bool takes(const Callback& callback, std::size_t lock) {
    return std::ranges::count(callback.critical_sections, lock, &CriticalSection::lock) > 0;
  }

  [[nodiscard]] bool is_taken(std::size_t lock) const {
    return std::ranges::any_of(application_.callbacks,
                               [lock](const Callback& callback) { return takes(callback, lock); });
  }

  [[nodiscard]] std::string its_protocol(std::size_t lock) const {
    const bool spins = application_.locks[lock].protocol == LockProtocol::spin;
    return std::string{"its protocol is "} + (spins ? "spin" : "fmlp+");
  }

  const Application& application_;
  std::set<std::pair<std::size_t, std::size_t>> taken_inside_;  // of locks: the outer, the inner
  std::set<std::pair<std::size_t, std::size_t>> visited_;       // from where, where
  std::vector<Fault> faults_;
};

}  // namespace

void check_locks(const Application& application) {
  Faults{application}.refuse();
}

}  // namespace takt::application
