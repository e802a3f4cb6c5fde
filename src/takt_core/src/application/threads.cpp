// SPDX-License-Identifier: Apache-2.0
#include "threads.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "process_cores.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

using std::ranges::any_of;
using std::ranges::find;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return find(names, name) != names.end();
}

bool reads(const sched::Task& task, const std::string& topic) {
  return (task.kind == sched::TaskKind::message && task.trigger == topic) ||
         find(task.reads, topic, &sched::Read::topic) != task.reads.end();
}

// The topics that a process has through its threads, by their names outside.
using Received = std::map<std::string, std::string>;

class Expansion {
 public:
  // `all`: else drivers alone.
  Expansion(Application& application, bool all)
      : application_(application),
        all_(all),
        described_(application.processes),
        received_(application.processes.size()) {}

  void run() {
    const std::vector<Process>& described = described_;
    for (std::size_t i = 0; i < described.size(); ++i) {
      std::erase_if(application_.processes[i].threads,
                    [&](const Thread& thread) { return all_ || is_driver(thread); });
      std::set<std::string> names;
      for (const Thread& thread : described[i].threads) {
        check(thread, described[i], i);
        if (!names.insert(thread.name).second) {
          refuse(described[i], thread, "there are two of this name",
                 "give each thread of a process a name of its own");
        }
        if (all_ || is_driver(thread)) {
          add(thread, i);
        }
      }
    }
    extend_chains();
    for (std::size_t i = 0; i < described.size(); ++i) {
      for (Callback& callback : application_.callbacks) {
        if (callback.process == i) {
          rename(callback.task, received_[i]);
        }
      }
    }
  }

 private:
  static bool is_driver(const Thread& thread) { return thread.period.count() > 0; }

  static std::string whole_name(const Process& process, const Thread& thread) {
    return process.name + "." + thread.name;
  }

  [[noreturn]] static void refuse(const Process& process, const Thread& thread,
                                  const std::string& what, const std::string& fix) {
    throw sched::ScheduleError("thread " + sched::name_text(whole_name(process, thread)), what,
                               fix);
  }

  void check(const Thread& thread, const Process& process, std::size_t number) const {
    if (thread.receives.empty() && !is_driver(thread)) {
      refuse(process, thread, "it neither receives topics nor has a timer, so it does nothing",
             "give what it receives, such as receives: {scan: 50us}, or its timer, or remove it");
    }
    if (!thread.receives.empty() && is_driver(thread)) {
      refuse(process, thread, "it receives topics and has a timer",
             "describe two threads, or leave one of both out");
    }
    for (const Receipt& receipt : thread.receives) {
      check(receipt, thread, process, number);
    }
  }

  void check(const Receipt& receipt, const Thread& thread, const Process& process,
             std::size_t number) const {
    const std::string topic = sched::name_text(receipt.topic);
    if (const auto other = received_[number].find(receipt.topic);
        other != received_[number].end()) {
      refuse(process, thread,
             "topic " + topic + " is received already, as " + sched::name_text(other->second),
             "let one thread receive it");
    }
    bool is_read = false;
    for (const Callback& callback : application_.callbacks) {
      if (callback.process != number) {
        continue;
      }
      is_read = is_read || reads(callback.task, receipt.topic);
      if (contains(callback.task.writes, receipt.topic)) {
        refuse(process, thread,
               "it receives topic " + topic + ", which " + sched::name_text(callback.task.name) +
                   " publishes in the same process, without this thread",
               "leave the topic out of receives, or give what comes from elsewhere another name");
      }
    }
    if (!is_read) {
      refuse(process, thread,
             "it receives topic " + topic + ", which no callback of process " +
                 sched::name_text(process.name) + " reads",
             "name a topic that one of them reads, or remove it");
    }
    if (!is_published(receipt.topic)) {
      refuse(process, thread, "it receives topic " + topic + ", which no callback publishes",
             "name the topic among the writes of the callback that publishes it, or give it an "
             "external_period");
    }
  }

  [[nodiscard]] bool is_published(const std::string& topic) const {
    const Topic* const declared = application_.find_topic(topic);
    return (declared != nullptr && declared->external) ||
           any_of(application_.callbacks,
                  [&](const Callback& one) { return contains(one.task.writes, topic); }) ||
           any_of(described_, [&](const Process& process) {
             return any_of(process.threads,
                           [&](const Thread& thread) { return contains(thread.writes, topic); });
           });
  }

  void add(const Thread& thread, std::size_t number) {
    const Process own = application_.processes[number];
    const std::string name = whole_name(own, thread);
    const std::size_t place = application_.processes.size();
    application_.processes.push_back({.name = name,
                                      .policy = std::string{sched::arrival_order_name},
                                      .cpu = thread.cpu.value_or(own.cpu),
                                      .priority = thread.priority,
                                      .host = own.host,
                                      .serves = own.name});
    for (const Receipt& receipt : thread.receives) {
      Callback& callback = add(name + "." + receipt.topic, name, place, receipt.execution);
      callback.task.kind = sched::TaskKind::message;
      callback.task.trigger = receipt.topic;
      callback.task.writes = {callback.task.name};
      callback.task.parameters.overrun = sched::Overrun::catch_up;
      received_[number][receipt.topic] = callback.task.name;
      const Topic* const outside = application_.find_topic(receipt.topic);
      Topic inside = outside == nullptr ? Topic{} : *outside;
      inside.name = callback.task.name;
      inside.external = false;
      inside.external_period = inside.external_jitter = inside.external_distance = nanoseconds{0};
      application_.topics.push_back(std::move(inside));
    }
    if (is_driver(thread)) {
      Callback& callback = add(name, name, place, thread.execution);
      callback.task.parameters.period = thread.period;
      callback.task.writes = thread.writes;
      callback.jitter = thread.jitter;
    }
  }

  Callback& add(const std::string& name, const std::string& node, std::size_t process,
                const ExecutionTime& execution) {
    Callback callback;
    callback.task.name = name;
    callback.task.parameters.expected_execution = execution.worst;
    callback.execution = execution;
    callback.node = node;
    callback.process = process;
    callback.in_thread = true;
    return application_.callbacks.emplace_back(std::move(callback));
  }

  static void rename(sched::Task& task, const Received& received) {
    const auto inside = [&](std::string& topic) {
      if (const auto found = received.find(topic); found != received.end()) {
        topic = found->second;
      }
    };
    inside(task.trigger);
    for (sched::Read& read : task.reads) {
      inside(read.topic);
    }
  }

  [[nodiscard]] const Callback* find_callback(const std::string& name) const {
    const auto found = std::ranges::find_if(
        application_.callbacks, [&](const Callback& one) { return one.task.name == name; });
    return found == application_.callbacks.end() ? nullptr : &*found;
  }

  // The callback of a thread by which data goes to a reader; empty: it goes directly. `writer`:
  // null if the reader begins a chain, which does so where its message arrives.
  [[nodiscard]] std::string between(const Callback* writer, const Callback& reader) const {
    if (reader.process >= received_.size()) {
      return {};
    }
    const Received& received = received_[reader.process];
    const auto through = [&](const std::string& topic) {
      const auto found = received.find(topic);
      const bool comes =
          found != received.end() && (writer == nullptr || contains(writer->task.writes, topic));
      return comes ? found->second : std::string{};
    };
    const sched::Task& task = reader.task;
    if (task.kind == sched::TaskKind::message) {
      const bool directly = writer != nullptr && contains(writer->task.writes, task.trigger);
      if (std::string found = through(task.trigger); !found.empty() || directly) {
        return found;
      }
    }
    if (writer == nullptr || any_of(task.reads, [&](const sched::Read& read) {
          return contains(writer->task.writes, read.topic) && !received.contains(read.topic);
        })) {
      return {};
    }
    for (const sched::Read& read : task.reads) {
      if (std::string found = through(read.topic); !found.empty()) {
        return found;
      }
    }
    return {};
  }

  // Before topics have their names inside.
  void extend_chains() {
    for (Chain& chain : application_.chains) {
      std::vector<std::string> path;
      const Callback* before = nullptr;
      for (const std::string& name : chain.callbacks) {
        const Callback* const callback = find_callback(name);
        if (callback == nullptr) {
          return;  // which is refused elsewhere
        }
        if (std::string thread = between(before, *callback); !thread.empty()) {
          path.push_back(std::move(thread));
        }
        path.push_back(name);
        before = callback;
      }
      chain.callbacks = std::move(path);
    }
  }

  Application& application_;
  const bool all_;
  const std::vector<Process> described_;
  std::vector<Received> received_;  // by process
};

}  // namespace

Application with_threads(Application application) {
  if (any_of(application.processes, [](const Process& one) { return !one.threads.empty(); })) {
    Expansion{application, true}.run();
  }
  return with_cores(std::move(application));
}

Application with_drivers(Application application) {
  if (any_of(application.processes, [](const Process& one) { return !one.threads.empty(); })) {
    Expansion{application, false}.run();
  }
  return application;
}

std::string place_text(const Process& process) {
  if (process.one_of_cores) {
    return "core " + std::to_string(process.cpu) + " of process " +
           sched::name_text(family_of(process));
  }
  return (process.serves.empty() ? "process " : "thread ") + sched::name_text(process.name);
}

bool belong_together(const Process& left, const Process& right) {
  return family_of(left) == family_of(right);
}

}  // namespace takt::application
