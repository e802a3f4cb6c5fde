// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

namespace takt::trace {

// Not inline, so that the type is defined here alone.
TraceError::~TraceError() = default;

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr EventType last_type = EventType::lock;

bool is_known(const Event& event) noexcept {
  return event.type > EventType::name && event.type <= last_type;
}

FileHeader header_of(std::ifstream& file, const std::string& path) {
  std::array<char, sizeof(FileHeader)> bytes{};
  file.read(bytes.data(), bytes.size());
  const auto size = static_cast<std::size_t>(file.gcount());
  file.clear();
  FileHeader header;
  const FileHeader expected;
  const std::size_t version = expected.magic.size() - 1;
  if (size < version || std::memcmp(bytes.data(), expected.magic.data(), version) != 0) {
    throw TraceError(path, "this is no trace: it does not begin with TAKTTRC",
                     "give what takt execute or simulate wrote, or Options::trace of an executor");
  }
  if (size > version && bytes[version] != expected.magic[version]) {
    throw TraceError(path,
                     "this is a trace of version " + std::string(1, bytes[version]) +
                         ", this Takt reads version 1",
                     "read it with the Takt that wrote it");
  }
  if (size < sizeof header) {
    throw TraceError(path,
                     "the trace ends within its header: " + std::to_string(size) + " of " +
                         std::to_string(sizeof header) + " bytes",
                     "it is cut off: copy it again, or record it again");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.record_bytes != expected.record_bytes || header.header_bytes < sizeof header) {
    throw TraceError(path,
                     "the header of the trace is damaged: it tells of a header of " +
                         std::to_string(header.header_bytes) + " bytes and of records of " +
                         std::to_string(header.record_bytes),
                     "copy it again, or record it again");
  }
  return header;
}

void add_name(About& about, const Event& event) {
  const auto record = std::bit_cast<NameRecord>(event);
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
      add_to(about.tasks[record.id]);
      break;
    case NameKind::topic:
      add_to(about.topics[record.id]);
      break;
    case NameKind::scenario:
      add_to(about.scenarios[record.id]);
      break;
    case NameKind::attribute:
      if (record.part == 0 || about.attributes.empty()) {
        about.attributes.emplace_back();
      }
      add_to(about.attributes.back());
      break;
  }
}

}  // namespace

std::string About::attribute(std::string_view key) const {
  for (const std::string& one : attributes) {
    if (one.size() > key.size() && one.starts_with(key) && one[key.size()] == '=') {
      return one.substr(key.size() + 1);
    }
  }
  return {};
}

TraceFile::TraceFile(const std::filesystem::path& path, std::size_t block)
    : file_{path, std::ios::binary}, block_{std::max<std::size_t>(block, 1)} {
  if (!file_) {
    throw std::system_error{errno, std::generic_category(),
                            "cannot read the trace " + path.string()};
  }
  const FileHeader header = header_of(file_, path.string());
  about_.source = header.source;
  about_.write_error = header.write_error;
  about_.realtime_offset = std::chrono::nanoseconds{header.realtime_offset};
  begin_ = header.header_bytes;
  const std::uint64_t size = std::filesystem::file_size(path);
  records_ = size < begin_ ? 0 : (size - begin_) / sizeof(Event);
  about_.closed_in_order =
      (header.flags & FileHeader::closed_in_order) != 0 && header.records <= records_;
  std::uint64_t overflowed = 0;
  std::vector<Event> records;
  while (read_block(records)) {
    std::int64_t first = never;
    for (const Event& event : records) {
      if (event.type == EventType::name) {
        add_name(about_, event);
      } else if (is_known(event)) {
        ++about_.count;
        first = std::min(first, event.time);
        overflowed +=
            event.type == EventType::overflow ? static_cast<std::uint64_t>(event.value) : 0;
      } else {
        ++about_.unknown;
      }
    }
    earliest_.push_back(first);
  }
  earliest_.push_back(never);
  for (std::size_t i = earliest_.size() - 1; i > 0; --i) {
    earliest_[i - 1] = std::min(earliest_[i - 1], earliest_[i]);
  }
  // The header of a process that was killed is not up to date; a damaged count is no count.
  about_.lost =
      std::max(header.lost, overflowed > static_cast<std::uint64_t>(never) ? 0 : overflowed);
  rewind();
}

void TraceFile::rewind() {
  read_ = 0;
  blocks_ = 0;
  waiting_.clear();
}

bool TraceFile::read_block(std::vector<Event>& records) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(block_, records_ - read_));
  records.resize(count);
  if (count == 0) {
    return false;
  }
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(begin_ + read_ * sizeof(Event)));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): records are trivially copyable
  file_.read(reinterpret_cast<char*>(records.data()),
             static_cast<std::streamsize>(count * sizeof(Event)));
  const std::streamsize got = std::max<std::streamsize>(file_.gcount(), 0);
  records.resize(static_cast<std::size_t>(got) / sizeof(Event));  // it may have become shorter
  read_ += count;
  ++blocks_;
  return true;
}

std::vector<Event> TraceFile::next() {
  std::vector<Event> records;
  while (read_block(records)) {
    std::ranges::copy_if(records, std::back_inserter(waiting_), is_known);
    if (!std::ranges::is_sorted(waiting_, {}, &Event::time)) {
      std::ranges::stable_sort(waiting_, {}, &Event::time);
    }
    const auto later = std::ranges::upper_bound(
        waiting_, earliest_[std::min(blocks_, earliest_.size() - 1)], {}, &Event::time);
    if (later != waiting_.begin()) {
      std::vector<Event> ready{waiting_.begin(), later};
      waiting_.erase(waiting_.begin(), later);
      return ready;
    }
  }
  return {};
}

Trace read_trace(const std::filesystem::path& path) {
  TraceFile file{path};
  Trace trace{file.about()};
  trace.events.reserve(trace.count);
  for (std::vector<Event> events = file.next(); !events.empty(); events = file.next()) {
    trace.events.insert(trace.events.end(), events.begin(), events.end());
  }
  return trace;
}

}  // namespace takt::trace
