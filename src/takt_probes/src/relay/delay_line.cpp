// SPDX-License-Identifier: Apache-2.0
#include "delay_line.hpp"

#include <algorithm>
#include <new>
#include <numeric>

namespace takt::relay {
namespace {

bool later(const Frame& one, const Frame& other) noexcept {
  return one.due != other.due ? one.due > other.due : one.order > other.order;
}

}  // namespace

std::chrono::nanoseconds Chance::delay() noexcept {
  const double part = 2.0 * share_(random_) - 1.0;
  const std::chrono::nanoseconds drawn{
      static_cast<std::int64_t>(part * static_cast<double>(impairment_.jitter.count()))};
  return std::max(impairment_.delay + drawn, std::chrono::nanoseconds{0});
}

DelayLine::DelayLine(std::size_t slots) : length_{slots * slot_bytes}, free_(slots) {
  std::iota(free_.rbegin(), free_.rend(), 0U);
  waiting_.reserve(slots);
  void* memory = mmap(nullptr, length_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc{};
  }
  memory_ = static_cast<std::byte*>(memory);
}

DelayLine::~DelayLine() {
  munmap(memory_, length_);
}

std::optional<std::uint32_t> DelayLine::free_slot() const noexcept {
  return free_.empty() ? std::nullopt : std::optional{free_.back()};
}

void DelayLine::push(Frame frame) noexcept {
  free_.pop_back();
  frame.order = arrived_++;
  waiting_.push_back(frame);
  std::ranges::push_heap(waiting_, later);
}

void DelayLine::pop() noexcept {
  std::ranges::pop_heap(waiting_, later);
  free_.push_back(waiting_.back().slot);
  waiting_.pop_back();
}

}  // namespace takt::relay
