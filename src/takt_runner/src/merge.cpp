// SPDX-License-Identifier: Apache-2.0
#include "merge.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
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

void write_merged(const std::vector<std::filesystem::path>& parts,
                  const std::filesystem::path& merged,
                  const std::vector<std::pair<std::string, std::string>>& attributes) {
  trace::TraceWriter writer{merged, trace::Source::executor};
  std::set<std::string> known;
  for (const auto& [key, value] : attributes) {
    writer.attribute(key, value);
  }
  const auto replaced = [&](const std::string& text) {
    return std::ranges::any_of(attributes,
                               [&](const auto& one) { return text.starts_with(one.first + "="); });
  };
  Numbers tasks{writer, NameKind::task};
  Numbers topics{writer, NameKind::topic};
  Numbers scenarios{writer, NameKind::scenario};
  bool first = true;
  for (const std::filesystem::path& part : parts) {
    if (!std::filesystem::exists(part)) {
      continue;
    }
    trace::Trace trace = trace::read_trace(part);
    for (const std::string& text : trace.attributes) {
      if (replaced(text) || !known.insert(text).second) {
        continue;
      }
      const std::size_t equals = text.find('=');
      writer.attribute(text.substr(0, equals), text.substr(equals + 1));
    }
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
      if (event.type == trace::EventType::stolen && !first) {
        continue;
      }
      if (event.type == trace::EventType::scenario) {
        event.value = scenario_numbers[event.value];
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

}  // namespace

void merge_traces(const std::vector<std::filesystem::path>& parts,
                  const std::filesystem::path& merged,
                  const std::vector<std::pair<std::string, std::string>>& attributes) {
  try {
    write_merged(parts, merged, attributes);
  } catch (...) {
    std::filesystem::remove(merged);  // half of what the parts still hold
    throw;
  }
  // Not one of them before all of them are on the disk in their new place.
  for (const std::filesystem::path& part : parts) {
    std::filesystem::remove(part);
  }
}

}  // namespace takt::runner
