// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace takt::trace {
namespace {

std::vector<char> content_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    throw std::system_error{errno, std::generic_category(),
                            "cannot read the trace " + path.string()};
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

FileHeader header_of(const std::vector<char>& content, const std::filesystem::path& path) {
  FileHeader header;
  const FileHeader expected;
  if (content.size() < sizeof header) {
    throw std::runtime_error{path.string() + " is not a trace: it has " +
                             std::to_string(content.size()) + " bytes, a trace has at least 64"};
  }
  std::memcpy(&header, content.data(), sizeof header);
  if (header.magic != expected.magic) {
    throw std::runtime_error{path.string() + " is not a trace: it does not begin with TAKTTRC1"};
  }
  if (header.record_bytes != expected.record_bytes || header.header_bytes < sizeof header ||
      header.header_bytes > content.size()) {
    throw std::runtime_error{path.string() + " is a trace with a damaged header"};
  }
  return header;
}

void add_name(Trace& trace, const NameRecord& record) {
  const std::string_view text{record.text.data(),
                              std::min(std::size_t{record.bytes}, record.text.size())};
  const auto add_to = [&](std::string& name) {
    if (record.part == 0) {
      name = text;  // a later name of the same id replaces the former one
    } else {
      name += text;
    }
  };
  switch (record.kind) {
    case NameKind::task:
      add_to(trace.tasks[record.id]);
      break;
    case NameKind::topic:
      add_to(trace.topics[record.id]);
      break;
    case NameKind::scenario:
      add_to(trace.scenarios[record.id]);
      break;
    case NameKind::attribute:
      if (record.part == 0 || trace.attributes.empty()) {
        trace.attributes.emplace_back();
      }
      add_to(trace.attributes.back());
      break;
  }
}

}  // namespace

Trace read_trace(const std::filesystem::path& path) {
  const std::vector<char> content = content_of(path);
  const FileHeader header = header_of(content, path);
  Trace trace{.source = header.source,
              .closed_in_order = (header.flags & FileHeader::closed_in_order) != 0,
              .lost = header.lost,
              .write_error = header.write_error,
              .realtime_offset = std::chrono::nanoseconds{header.realtime_offset}};
  const std::size_t records = (content.size() - header.header_bytes) / sizeof(Event);
  trace.events.reserve(records);
  const char* next = content.data() + header.header_bytes;
  for (std::size_t i = 0; i < records; ++i, next += sizeof(Event)) {
    Event event;
    std::memcpy(&event, next, sizeof event);
    if (event.type == EventType::name) {
      NameRecord record;
      std::memcpy(&record, next, sizeof record);
      add_name(trace, record);
    } else {
      trace.events.push_back(event);
    }
  }
  std::ranges::stable_sort(trace.events, {}, &Event::time);
  return trace;
}

}  // namespace takt::trace
