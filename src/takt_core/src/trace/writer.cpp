// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "takt/os/clock.hpp"

namespace takt::trace {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{256} * 1024;

// Writes all of it at `offset`; returns 0 or the error.
int write_all(int file, const std::byte* data, std::size_t size, std::uint64_t offset) noexcept {
  while (size > 0) {
    const ssize_t written = ::pwrite(file, data, size, static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

[[noreturn]] void refuse(const std::filesystem::path& path, int error, std::string_view why = {}) {
  std::string what = "cannot create the trace " + path.string();
  if (!why.empty()) {
    what += ", as it is " + std::string{why};
  }
  throw std::system_error{error, std::generic_category(), what};
}

// Traces are often in /tmp, where another user can have put a link under their name: what it leads
// to, or what has a second name, is not overwritten. Nothing is cut before that is known.
int create(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) {
    refuse(path, errno, errno == ELOOP ? "a symbolic link: name the file itself" : "");
  }
  struct stat status {};
  const bool shared = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1;
  if (shared || (S_ISREG(status.st_mode) && ::ftruncate(file, 0) != 0)) {
    const int error = shared ? EEXIST : errno;
    ::close(file);
    refuse(path, error, shared ? "known by a second name (a hard link): remove it" : "");
  }
  return file;
}

}  // namespace

TraceWriter::TraceWriter(const std::filesystem::path& path, Source source)
    : path_(path), file_(create(path)) {
  header_.source = source;
  header_.realtime_offset = source == Source::executor ? os::realtime_offset().count() : 0;
  buffer_.reserve(buffer_bytes);
  try {
    write_header();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

TraceWriter::~TraceWriter() {
  try {
    close();
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): cannot be thrown from here
  }
  if (file_ >= 0) {
    ::close(file_);
  }
}

void TraceWriter::name(NameKind kind, std::uint16_t id, std::string_view text) {
  const std::lock_guard lock{mutex_};
  std::uint16_t part = 0;
  do {
    NameRecord record{.id = id, .kind = kind, .part = part};
    record.bytes = static_cast<std::uint8_t>(std::min(text.size(), record.text.size()));
    std::memcpy(record.text.data(), text.data(), record.bytes);
    append(&record);
    text.remove_prefix(record.bytes);
    ++part;
  } while (!text.empty());
}

void TraceWriter::attribute(std::string_view key, std::string_view value) {
  name(NameKind::attribute, 0, std::string{key} + "=" + std::string{value});
}

void TraceWriter::write(std::span<const Event> events) {
  const std::lock_guard lock{mutex_};
  for (const Event& event : events) {
    append(&event);
  }
}

void TraceWriter::flush() {
  const std::lock_guard lock{mutex_};
  flush_locked();
}

void TraceWriter::close() {
  const std::lock_guard lock{mutex_};
  if (file_ < 0) {
    return;
  }
  flush_locked();
  header_.flags |= FileHeader::closed_in_order;
  header_.records = (end_ - sizeof header_) / sizeof(Event);
  write_header();
  ::close(file_);
  file_ = -1;
}

void TraceWriter::add_lost(std::uint64_t count) noexcept {
  const std::lock_guard lock{mutex_};
  header_.lost += count;
}

void TraceWriter::note_write_error(int error) noexcept {
  const std::lock_guard lock{mutex_};
  note_locked(error);
}

void TraceWriter::note_locked(int error) noexcept {
  if (header_.write_error == 0) {
    header_.write_error = error;
  }
}

void TraceWriter::sync() {
  const std::lock_guard lock{mutex_};
  flush_locked();
  if (::fsync(file_) != 0) {
    throw std::system_error{errno, std::generic_category(),
                            "cannot write the trace " + path_.string()};
  }
}

std::uint64_t TraceWriter::lost() const noexcept {
  const std::lock_guard lock{mutex_};
  return header_.lost;
}

void TraceWriter::append(const void* record) {
  if (file_ < 0) {
    throw std::system_error{EBADF, std::generic_category(),
                            "the trace " + path_.string() + " is closed"};
  }
  if (buffer_.size() + sizeof(Event) > buffer_bytes) {
    flush_locked();
  }
  const auto* bytes = static_cast<const std::byte*>(record);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof(Event));
}

void TraceWriter::flush_locked() {
  if (buffer_.empty()) {
    return;
  }
  const int error = write_all(file_, buffer_.data(), buffer_.size(), end_);
  if (error != 0) {
    note_locked(error);
    header_.lost += buffer_.size() / sizeof(Event);
    buffer_.clear();  // the next records go where these should have gone
    write_all(file_, reinterpret_cast<const std::byte*>(&header_), sizeof header_, 0);
    throw std::system_error{error, std::generic_category(),
                            "cannot write the trace " + path_.string()};
  }
  end_ += buffer_.size();
  buffer_.clear();
  write_header();
}

void TraceWriter::write_header() {
  const int error =
      write_all(file_, reinterpret_cast<const std::byte*>(&header_), sizeof header_, 0);
  if (error != 0) {
    throw std::system_error{error, std::generic_category(),
                            "cannot write the trace " + path_.string()};
  }
}

}  // namespace takt::trace
