// SPDX-License-Identifier: Apache-2.0
#include "merge.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <takt/application/compile.hpp>
#include <takt/application/parse.hpp>
#include <takt/application/threads.hpp>
#include <takt/trace/reader.hpp>
#include <takt/trace/writer.hpp>

namespace takt::runner {
namespace {

using trace::NameKind;

// The numbers of names in the merged trace.
class Numbers {
 public:
  Numbers(trace::TraceWriter& writer, NameKind kind) : writer_{&writer}, kind_{kind} {}

  std::uint16_t of(const std::string& name) {
    const auto [entry, is_new] =
        numbers_.try_emplace(name, static_cast<std::uint16_t>(numbers_.size()));
    if (is_new) {
      writer_->name(kind_, entry->second, name);
    }
    return entry->second;
  }

 private:
  trace::TraceWriter* writer_;
  NameKind kind_;
  std::map<std::string, std::uint16_t> numbers_;
};

// How the events of a part become those of the merged trace.
struct Moved {
  std::int64_t time{0};
  std::uint16_t core{0};
  std::set<std::uint16_t> cores{};  // that the hypervisor may have stolen from; empty: all

  // Nothing where the event is of a core that is not this part's.
  [[nodiscard]] bool of(trace::Event& event) const {
    using trace::EventType;
    if (event.type == EventType::stolen && !cores.empty() && !cores.contains(event.core)) {
      return false;
    }
    event.time += time;
    const bool has_time = event.type == EventType::deadline_miss ||
                          event.type == EventType::early_release ||
                          (event.type == EventType::release && event.value != trace::no_deadline);
    event.value += has_time ? time : 0;
    if (event.core != trace::no_core) {
      event.core = static_cast<std::uint16_t>(event.core + core);
    }
    return true;
  }
};

struct Part {
  std::filesystem::path trace{};
  Moved moved{};
};

using Attributes = std::vector<std::pair<std::string, std::string>>;

// Those of a part that are not among the merged trace's own, once each.
void add_attributes(trace::TraceWriter& writer, const std::vector<std::string>& texts,
                    const Attributes& own, std::set<std::string>& known) {
  for (const std::string& text : texts) {
    const bool replaced = std::ranges::any_of(
        own, [&](const auto& one) { return text.starts_with(one.first + "="); });
    if (replaced || !known.insert(text).second) {
      continue;
    }
    const std::size_t equals = text.find('=');
    writer.attribute(text.substr(0, equals), text.substr(equals + 1));
  }
}

void write_merged(const std::vector<Part>& parts, const std::filesystem::path& merged,
                  const Attributes& attributes) {
  trace::TraceWriter writer{merged, trace::Source::executor};
  std::set<std::string> known;
  for (const auto& [key, value] : attributes) {
    writer.attribute(key, value);
  }
  Numbers tasks{writer, NameKind::task};
  Numbers topics{writer, NameKind::topic};
  Numbers scenarios{writer, NameKind::scenario};
  bool first = true;
  for (const auto& [path, moved] : parts) {
    if (!std::filesystem::exists(path)) {
      continue;
    }
    trace::Trace trace = trace::read_trace(path);
    add_attributes(writer, trace.attributes, attributes, known);
    std::map<std::uint16_t, std::uint16_t> task_numbers{{trace::no_task, trace::no_task}};
    std::map<std::uint16_t, std::uint16_t> topic_numbers{{trace::no_topic, trace::no_topic}};
    for (const auto& [number, name] : trace.tasks) {
      task_numbers[number] = tasks.of(name);
    }
    for (const auto& [number, name] : trace.topics) {
      topic_numbers[number] = topics.of(name);
    }
    std::map<std::int64_t, std::uint16_t> scenario_numbers;
    for (const auto& [number, name] : trace.scenarios) {
      scenario_numbers[number] = scenarios.of(name);
    }
    for (trace::Event& event : trace.events) {
      if (event.type == trace::EventType::stolen && !first && moved.cores.empty()) {
        continue;
      }
      if (event.type == trace::EventType::scenario) {
        event.value = scenario_numbers[event.value];
      }
      if (!moved.of(event)) {
        continue;
      }
      event.task = task_numbers[event.task];
      event.topic = topic_numbers[event.topic];
      writer.write(event);
    }
    writer.add_lost(trace.lost);
    writer.note_write_error(trace.write_error);
    first = false;
  }
  writer.sync();
  writer.close();
}

void write_or_remove(const std::vector<Part>& parts, const std::filesystem::path& merged,
                     const std::vector<std::pair<std::string, std::string>>& attributes) {
  try {
    write_merged(parts, merged, attributes);
  } catch (...) {
    std::filesystem::remove(merged);  // half of what the parts still hold
    throw;
  }
}

application::Application robot_of(const std::filesystem::path& part) {
  constexpr std::string_view key = "application=";
  const trace::Trace trace = trace::read_trace(part);
  const auto found = std::ranges::find_if(
      trace.attributes, [&](const std::string& text) { return text.starts_with(key); });
  if (found == trace.attributes.end()) {
    throw std::runtime_error{part.string() + " has no description of its robot"};
  }
  return application::with_threads(application::parse(found->substr(key.size())));
}

// How the cores of a host are moved to the numbers that the whole robot has for them.
Moved moved_of(const application::Application& robot, const sched::CompiledStrategy& whole,
               const PartOfHost& part) {
  Moved moved{.time = part.clock_offset};
  for (std::size_t i = 0; i < robot.callbacks.size(); ++i) {
    const application::Process& process = robot.processes.at(robot.callbacks[i].process);
    if (process.host == part.host) {
      moved.core = static_cast<std::uint16_t>(whole.tasks()[i].cpu - process.cpu);
      moved.cores.insert(static_cast<std::uint16_t>(process.cpu));
      for (const int cpu : process.cpus) {
        moved.cores.insert(static_cast<std::uint16_t>(cpu));
      }
    }
  }
  if (moved.cores.empty()) {
    throw std::runtime_error{part.trace.string() + " is of no robot with host '" + part.host + "'"};
  }
  return moved;
}

}  // namespace

void merge_hosts(const std::vector<PartOfHost>& parts, const std::filesystem::path& merged) {
  const application::Application robot = robot_of(parts.at(0).trace);
  const sched::CompiledStrategy whole = application::compile(robot);
  std::vector<Part> moved;
  std::set<std::uint16_t> cores;
  std::vector<std::pair<std::string, std::string>> attributes;
  for (const PartOfHost& part : parts) {
    moved.push_back({.trace = part.trace, .moved = moved_of(robot, whole, part)});
    const Moved& how = moved.back().moved;
    for (const std::uint16_t core : how.cores) {
      cores.insert(static_cast<std::uint16_t>(core + how.core));
    }
    attributes.emplace_back("host", part.host + " " + std::to_string(how.core));
  }
  std::string text;
  for (const std::uint16_t core : cores) {
    text += (text.empty() ? "" : ",") + std::to_string(core);
  }
  attributes.emplace_back("cpus", text);
  write_or_remove(moved, merged, attributes);
}

void merge_traces(const std::vector<std::filesystem::path>& parts,
                  const std::filesystem::path& merged,
                  const std::vector<std::pair<std::string, std::string>>& attributes) {
  std::vector<Part> unmoved;
  unmoved.reserve(parts.size());
  for (const std::filesystem::path& part : parts) {
    unmoved.push_back({.trace = part});
  }
  write_or_remove(unmoved, merged, attributes);
  // Not one of them before all of them are on the disk in their new place.
  for (const std::filesystem::path& part : parts) {
    std::filesystem::remove(part);
  }
}

}  // namespace takt::runner
