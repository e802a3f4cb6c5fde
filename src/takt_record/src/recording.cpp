// SPDX-License-Identifier: Apache-2.0
#include "recording.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>

namespace takt_record {

namespace {

constexpr std::uint64_t least_bytes = 64U << 10;

std::int64_t now(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Of the process: a fork copies what a thread knows of itself, and its thread has another number.
std::atomic<unsigned> generation{1};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

std::uint32_t thread_id() noexcept {
  // A system call takes longer than everything else that an event costs.
  thread_local std::uint32_t known = 0;
  thread_local unsigned of = 0;
  if (const unsigned current = generation.load(std::memory_order_relaxed); of != current) {
    known = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    of = current;
  }
  return known;
}

constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + alignment - 1) / alignment * alignment;
}

// As much of `bytes` as the disk has.
std::uint64_t reserve(int file, std::uint64_t bytes) noexcept {
  for (; bytes >= least_bytes; bytes /= 2) {
    if (::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) {
      return bytes;
    }
  }
  return 0;
}

}  // namespace

void Arguments::add(std::uint64_t value) noexcept {
  add_bytes(&value, sizeof value);
}

void Arguments::add_text(const char* text) noexcept {
  const std::size_t length = text == nullptr ? 0 : ::strnlen(text, most_text);
  add(length);
  add_bytes(text, length);
}

void Arguments::add_bytes(const void* bytes, std::size_t count) noexcept {
  const std::size_t room = std::min(count, most - size_);
  if (bytes != nullptr && room > 0) {
    std::memcpy(data_.data() + size_, bytes, room);
  }
  size_ += room;
  pad();
}

void Arguments::pad() noexcept {
  const std::size_t end = std::min(padded(size_), most);
  std::memset(data_.data() + size_, 0, end - size_);
  size_ = end;
}

std::string Recording::create(const std::string& path, std::uint64_t bytes,
                              std::string_view names) {
  const auto failed = [&](const char* what) {
    const int error = errno;
    return path + ": " + what + ": " + std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return failed("cannot be made");
  }
  const std::uint64_t size = reserve(file, std::max(bytes, least_bytes));
  void* const place =
      size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  std::string problem;
  if (place == MAP_FAILED) {
    problem = size == 0 ? path + ": the disk has no 64 KiB for it" : failed("cannot be mapped");
    ::unlink(path.c_str());
  }
  ::close(file);
  if (!problem.empty()) {
    return problem;
  }
  const std::size_t text = std::min(padded(names.size()), size - sizeof(Header));
  auto* const header = std::construct_at(static_cast<Header*>(place));
  header->bytes = size;
  header->monotonic = now(CLOCK_MONOTONIC);
  header->realtime = now(CLOCK_REALTIME);
  header->process = ::getpid();
  header->names = static_cast<std::uint32_t>(text);
  std::memcpy(reinterpret_cast<std::byte*>(header) + sizeof(Header), names.data(),
              std::min(text, names.size()));
  header->end.store(sizeof(Header) + text);
  header->magic = magic;  // a reader takes nothing else for a recording
  header_ = header;
  return "";
}

void Recording::forget() noexcept {
  generation.fetch_add(1, std::memory_order_relaxed);
  header_ = nullptr;
}

void Recording::append(std::uint16_t event, const Arguments& arguments,
                       bool with_cpu_time) noexcept {
  if (header_ == nullptr) {
    return;
  }
  const std::size_t bytes = sizeof(EventHead) + arguments.size();
  const std::uint64_t at = header_->end.fetch_add(bytes, std::memory_order_relaxed);
  if (at + bytes > header_->bytes) {
    header_->dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::byte* const place = reinterpret_cast<std::byte*>(header_) + at;
  auto* const head = std::construct_at(reinterpret_cast<EventHead*>(place));
  head->event = event;
  head->core = static_cast<std::uint16_t>(std::max(0, ::sched_getcpu()));
  head->thread = thread_id();
  head->cpu = with_cpu_time ? now(CLOCK_THREAD_CPUTIME_ID) : -1;
  head->time = now(CLOCK_MONOTONIC);
  std::memcpy(place + sizeof(EventHead), arguments.data(), arguments.size());
  head->bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
}

}  // namespace takt_record
