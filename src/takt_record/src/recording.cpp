// SPDX-License-Identifier: Apache-2.0
#include "recording.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include "thread_time.hpp"

namespace takt_record {

namespace {

constexpr std::uint64_t least_bytes = 64U << 10;
constexpr std::uint64_t least_blocks = 4;    // one is written, the next one is clear
constexpr std::uint64_t share_of_names = 8;  // of the space of a ring
constexpr std::uint64_t writable_at_first = 256U << 10;

std::int64_t now(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Of the process: a fork copies what a thread knows of itself, and its thread has another number.
std::atomic<unsigned> generation{1};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

struct Thread {
  unsigned generation = 0;
  std::uint32_t id = 0;
  bool responds = false;  // it may run the callback of a response
  ThreadTime<CpuClock> time;
};

Thread& this_thread() noexcept {
  thread_local Thread known;  // a system call takes longer than everything else that an event costs
  if (const unsigned now = generation.load(std::memory_order_relaxed); known.generation != now) {
    known = {.generation = now,
             .id = static_cast<std::uint32_t>(::syscall(SYS_gettid)),
             .responds = false,
             .time = {}};
  }
  return known;
}

std::int64_t cpu_time(Thread& thread, Kind kind, std::int64_t now,
                      std::uint64_t callback) noexcept {
  switch (kind) {
    case Kind::begin:
      thread.responds = false;
      return thread.time.begin(now, callback);
    case Kind::end:
      return thread.time.end(now, callback);
    case Kind::response:
      thread.responds = true;
      return CpuClock::now();
    case Kind::clock:
      return CpuClock::now();
    case Kind::event:
      return thread.responds ? CpuClock::now() : -1;
    case Kind::name:
      break;
  }
  return -1;
}

// A thread's first write to a page of the file costs it up to 40 us; many pages at once cost 5 us
// each. Kernels before 5.14 refuse, and the pages then become writable one by one.
void make_writable(std::byte* place, std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  const int error = errno;
  ::madvise(place, bytes, MADV_POPULATE_WRITE);
  errno = error;
#else
  static_cast<void>(place);
  static_cast<void>(bytes);
#endif
}

constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + alignment - 1) / alignment * alignment;
}

// As much of `bytes` as the disk has; 0 sets errno.
std::uint64_t reserve(int file, std::uint64_t bytes) noexcept {
  for (; bytes >= least_bytes; bytes /= 2) {
    errno = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
    if (errno == 0) {
      return bytes;
    }
  }
  return 0;
}

}  // namespace

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

std::uint32_t check_of(const std::byte* event, std::uint64_t bytes, std::uint64_t place) noexcept {
  std::uint64_t all = place;
  for (std::uint64_t at = 0; at < bytes; at += sizeof all) {
    std::uint64_t word = 0;
    std::memcpy(&word, event + at, sizeof word);
    constexpr std::uint64_t low = 0xFFFFFFFF;
    if (at == 0) {
      word = (word & ~low) | bytes;  // they are written last
    } else if (at == offsetof(EventHead, thread)) {
      word &= low;
    }
    all ^= word;
  }
  return static_cast<std::uint32_t>(all ^ (all >> 32U));
}

std::string Recording::create(const std::string& path, std::uint64_t bytes, std::string_view names,
                              Full full) {
  const auto failed = [&](const char* what) {
    const int error = errno;
    return path + ": " + what + ": " + std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return failed("cannot be made");
  }
  const std::uint64_t least = full == Full::ring ? (least_blocks + 1) * block_bytes : least_bytes;
  const std::uint64_t size = takt_record::reserve(file, std::max(bytes, least));
  void* const place =
      size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  std::string problem;
  if (place == MAP_FAILED) {
    problem = size == 0 ? failed("the disk has no 64 KiB for it") : failed("cannot be mapped");
    ::unlink(path.c_str());
  }
  ::close(file);
  if (!problem.empty()) {
    return problem;
  }
  writable_ = std::min(size, writable_at_first);
  make_writable(static_cast<std::byte*>(place), writable_);
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
  limit_ = size;
  blocks_ = 0;
  header_ = header;
  const std::uint64_t names_end =
      std::max(size / share_of_names, sizeof(Header) + text + least_bytes / 2);
  const std::uint64_t ring = (names_end / block_bytes + 1) * block_bytes;
  if (full == Full::ring && size >= ring + least_blocks * block_bytes) {
    limit_ = header->ring = ring;
    blocks_ = (size - limit_) / block_bytes;
    clear(0);
  }
  header->magic = magic;  // a reader takes nothing else for a recording
  return "";
}

void Recording::follow(const std::string& path) noexcept {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  struct stat found {};
  if (::fstat(file, &found) != 0 || std::cmp_less(found.st_size, sizeof(Control))) {
    ::close(file);
    return;
  }
  void* const place = ::mmap(nullptr, sizeof(Control), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (place != MAP_FAILED && static_cast<const Control*>(place)->magic == control_magic) {
    control_ = static_cast<const Control*>(place);
  }
}

void Recording::forget() noexcept {
  generation.fetch_add(1, std::memory_order_relaxed);
  header_ = nullptr;
  control_ = nullptr;
}

std::byte* Recording::block(std::uint64_t number) const noexcept {
  return reinterpret_cast<std::byte*>(header_) + header_->ring + number % blocks_ * block_bytes;
}

// The number of a block, plus one, stands at its begin when it is clear.
bool Recording::ready(std::uint64_t number) const noexcept {
  auto* const mark = reinterpret_cast<std::atomic<std::uint64_t>*>(block(number));
  return mark->load(std::memory_order_acquire) == number + 1;
}

void Recording::clear(std::uint64_t number) noexcept {
  auto* const mark = reinterpret_cast<std::atomic<std::uint64_t>*>(block(number));
  make_writable(block(number), block_bytes);
  mark->store(0, std::memory_order_relaxed);
  std::memset(block(number) + sizeof(std::uint64_t), 0, block_room);
  mark->store(number + 1, std::memory_order_release);
}

// What an event that lies within one block leaves free.
void Recording::fill(std::uint64_t number, std::uint64_t from, std::uint64_t bytes) noexcept {
  if (bytes > 0 && ready(number)) {
    auto* const head = reinterpret_cast<EventHead*>(block(number) + sizeof(std::uint64_t) + from);
    head->event = no_event;  // only so much of a head has space for sure
    head->bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
  }
}

std::byte* Recording::reserve(std::uint64_t bytes) noexcept {
  const std::uint64_t at = header_->end.fetch_add(bytes, std::memory_order_relaxed);
  return at + bytes > limit_ ? nullptr : reinterpret_cast<std::byte*>(header_) + at;
}

std::byte* Recording::reserve_in_ring(std::uint64_t bytes, std::uint64_t& place) noexcept {
  for (;;) {
    const std::uint64_t at = header_->ring_end.fetch_add(bytes, std::memory_order_relaxed);
    const std::uint64_t number = at / block_room;
    const std::uint64_t within = at % block_room;
    if (within == 0) {
      clear(number + 1);
    }
    if (within + bytes <= block_room) {
      place = at;
      return ready(number) ? block(number) + sizeof(std::uint64_t) + within : nullptr;
    }
    // It would lie in two blocks: what it got is left free.
    clear(number + 2);
    fill(number, within, block_room - within);
    fill(number + 1, 0, within + bytes - block_room);
  }
}

// After the end of a callback, so that no callback waits for it; without callbacks, when the first
// of these pages was needed.
void Recording::write_ahead(std::uint64_t end, Kind kind) noexcept {
  std::uint64_t until = writable_.load(std::memory_order_relaxed);
  const std::uint64_t ahead = kind == Kind::end ? block_bytes : 0;
  while (until < limit_ && end + ahead > until) {
    const std::uint64_t bytes = std::min(limit_ - until, block_bytes);
    if (writable_.compare_exchange_strong(until, until + bytes, std::memory_order_relaxed)) {
      make_writable(reinterpret_cast<std::byte*>(header_) + until, bytes);
      return;
    }
  }
}

void Recording::append(std::uint16_t event, const Arguments& arguments, Kind kind) noexcept {
  if (header_ == nullptr) {
    return;
  }
  if (kind != Kind::name && control_ != nullptr &&
      control_->on.load(std::memory_order_relaxed) == 0) {
    return;
  }
  const std::size_t bytes = sizeof(EventHead) + arguments.size();
  const bool in_ring = kind != Kind::name && blocks_ != 0;
  std::uint64_t at = 0;
  std::byte* const place = in_ring ? reserve_in_ring(bytes, at) : reserve(bytes);
  if (place == nullptr) {
    header_->dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  auto* const head = std::construct_at(reinterpret_cast<EventHead*>(place));
  head->bytes.store(static_cast<std::uint32_t>(bytes) | unfinished, std::memory_order_relaxed);
  // The process may be killed at any instruction from here on: no store of the event goes before.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  head->event = event;
  head->core = static_cast<std::uint16_t>(std::max(0, ::sched_getcpu()));
  Thread& thread = this_thread();
  head->thread = thread.id;
  head->time = now(CLOCK_MONOTONIC);
  head->cpu = cpu_time(thread, kind, head->time, arguments.first());
  std::memcpy(place + sizeof(EventHead), arguments.data(), arguments.size());
  head->check = in_ring ? check_of(place, bytes, at) : 0;
  head->bytes.store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
  if (!in_ring) {
    const auto* const begin = reinterpret_cast<const std::byte*>(header_);
    write_ahead(static_cast<std::uint64_t>(place - begin) + bytes, kind);
  }
}

}  // namespace takt_record
