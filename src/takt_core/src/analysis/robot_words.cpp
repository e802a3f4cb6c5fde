// SPDX-License-Identifier: Apache-2.0
#include "robot_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "../application/kernel_scheduling.hpp"
#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "../application/threads.hpp"
#include "../sched/text.hpp"
#include "methods.hpp"
#include "takt/stats/int128.hpp"

namespace takt::analysis {

namespace {

std::string share_text(std::int64_t millionths) {
  std::array<char, 32> text{};
  constexpr double to_percent = 1e-4;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(),
                                          static_cast<double>(millionths) * to_percent);
  return std::string{text.data(), end} + " %";
}

// Whether any two processes run on the same host.
bool shares_a_host(const std::vector<application::Process>& processes) {
  return std::ranges::any_of(processes, [&](const application::Process& one) {
    return std::ranges::any_of(processes, [&](const application::Process& other) {
      return one.host == other.host && !application::belong_together(one, other);
    });
  });
}

// time * parts / whole, rounded up.
nanoseconds scaled_up(nanoseconds time, std::int64_t parts, std::int64_t whole) {
  const auto product = static_cast<stats::Int128>(time.count()) * parts;
  return nanoseconds{static_cast<std::int64_t>((product + whole - 1) / whole)};
}

bool is_read(const application::Application& process, const std::string& topic) {
  return std::ranges::any_of(process.callbacks, [&](const application::Callback& reader) {
    return reader.task.trigger == topic ||
           std::ranges::find(reader.task.reads, topic, &sched::Read::topic) !=
               reader.task.reads.end();
  });
}

}  // namespace

bool is_above(const application::Process& other, const application::Process& own) {
  return application::runs_before(other, own);
}

bool publishes(const application::Callback& callback, const std::string& topic) {
  return application::sends(callback, topic);
}

std::string below_text(const application::Application& robot, std::size_t number) {
  std::string names;
  for (const application::Process& other : robot.processes) {
    if (is_above(other, robot.processes[number])) {
      names += (names.empty() ? ", below " : " and ") + sched::name_text(other.name);
    }
  }
  return names;
}

std::vector<std::string> unbounded_messages(const application::Application& robot,
                                            const application::Application& process,
                                            std::size_t number,
                                            const std::set<std::string>& unbounded) {
  std::vector<std::string> remarks;
  for (const application::Topic& topic : process.topics) {
    const bool known = topic.external_period.count() > 0 && !unbounded.contains(topic.name);
    if (!topic.external || known || !is_read(process, topic.name)) {
      continue;
    }
    std::string writers;
    std::string name = topic.name;
    for (const application::Callback& writer : robot.callbacks) {
      if (writer.process != number && publishes(writer, topic.name)) {
        name = writer.in_thread && !writer.task.trigger.empty()
                   ? writer.task.trigger  // which the thread receives
                   : name;
        writers += (writers.empty() ? "" : " and ") + sched::name_text(writer.task.name) + " of " +
                   application::place_text(robot.processes[writer.process]);
      }
    }
    if (!writers.empty()) {
      remarks.push_back("nothing bounds the messages on topic " + sched::name_text(name) + " by " +
                        writers);
    }
  }
  return remarks;
}

// With rates r and r (1 + d), times are t / (1 + d) to t / (1 - d).
nanoseconds slower(nanoseconds time, std::int64_t drift) {
  return drift == 0 ? time : time + scaled_up(time, drift, application::Link::whole - drift);
}

nanoseconds faster(nanoseconds time, std::int64_t drift) {
  return drift == 0 ? time : time - scaled_up(time, drift, application::Link::whole);
}

std::vector<std::string> assumed_of_messages(const application::Application& robot) {
  std::vector<std::string> remarks;
  const auto within = [](nanoseconds most) { return " within " + sched::time_text(most); };
  const std::string where = robot.links.empty() ? "" : " of its host";
  if (shares_a_host(robot.processes)) {
    remarks.push_back("assuming that a message reaches another process" + where +
                      (robot.handover.most.count() > 0
                           ? within(robot.handover.most)
                           : " at once, for no middleware latency is declared (middleware: "
                             "{latency: [50us, 300us]})"));
  }
  for (const application::Link& link : robot.links) {
    remarks.push_back(
        "assuming that a message between hosts " + sched::name_text(link.hosts[0]) + " and " +
        sched::name_text(link.hosts[1]) + " arrives" + within(link.handover.most) +
        (link.loss > 0 ? ", or is lost (at most " + share_text(link.loss) + ")" : "") +
        (link.measured > 0 ? ", as " + std::to_string(link.measured) + " measured ones did" : ""));
  }
  for (const application::Link& link : robot.links) {
    remarks.push_back("assuming that the clocks of hosts " + sched::name_text(link.hosts[0]) +
                      " and " + sched::name_text(link.hosts[1]) +
                      (link.drift == 0 ? " run at the same rate"
                                       : " differ by at most " + share_text(link.drift)));
  }
  return remarks;
}

void name_processes_above(ScenarioReport& report) {
  for (CallbackReport& callback : report.callbacks) {
    const std::size_t at = callback.bound_by.find(methods::interrupts);
    if (at != std::string::npos) {
      callback.bound_by.replace(at, methods::interrupts.size(), methods::processes_above);
    }
  }
}

void name_topics(ScenarioReport& report, const application::Application& robot,
                 const application::Process& process) {
  for (const application::Callback& receipt : robot.callbacks) {
    const bool own = receipt.in_thread && !receipt.task.trigger.empty() &&
                     robot.processes[receipt.process].serves == application::family_of(process);
    if (!own) {
      continue;
    }
    const std::string inside = sched::name_text(receipt.task.name);
    const std::string outside = sched::name_text(receipt.task.trigger);
    const auto rename = [&](std::string& text) {
      for (std::size_t at = text.find(inside); at != std::string::npos;
           at = text.find(inside, at + outside.size())) {
        text.replace(at, inside.size(), outside);
      }
    };
    std::ranges::for_each(report.remarks, rename);
    std::ranges::for_each(report.chains, rename, &ChainReport::bound_by);
    std::ranges::for_each(report.callbacks, rename, &CallbackReport::bound_by);
  }
}

}  // namespace takt::analysis
