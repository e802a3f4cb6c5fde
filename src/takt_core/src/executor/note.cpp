// SPDX-License-Identifier: Apache-2.0
#include "note.hpp"

#include <stdexcept>

namespace takt::executor {
namespace {

constexpr std::uint64_t number_mask = 0xFFFFFFFF;
constexpr unsigned tag_shift = 32;

}  // namespace

void NotePool::grow_to(std::size_t notes) {
  while (chunk_count_ * chunk_size < notes) {
    if (chunk_count_ == most_chunks) {
      throw std::length_error{
          "the queues of all tasks together have room for more than a million arrivals; make them "
          "smaller"};
    }
    chunks_[chunk_count_] = std::make_unique<Chunk>();
    const std::size_t first = chunk_count_ * chunk_size;
    ++chunk_count_;
    for (std::size_t i = 0; i < chunk_size; ++i) {
      Note& added = note(static_cast<std::uint32_t>(first + i));
      added.number = static_cast<std::uint32_t>(first + i);
      give_back(added);
    }
  }
}

Note* NotePool::take() noexcept {
  std::uint64_t first = first_free_.load(std::memory_order_acquire);
  for (;;) {
    const auto number = static_cast<std::uint32_t>(first & number_mask);
    if (number == 0) {
      return nullptr;
    }
    Note& taken = note(number - 1);
    const std::uint64_t tag = (first >> tag_shift) + 1;
    const std::uint64_t rest = (tag << tag_shift) | taken.next_free.load(std::memory_order_relaxed);
    if (first_free_.compare_exchange_weak(first, rest, std::memory_order_acquire)) {
      return &taken;
    }
  }
}

void NotePool::give_back(Note& note) noexcept {
  std::uint64_t first = first_free_.load(std::memory_order_relaxed);
  std::uint64_t with = 0;
  do {
    note.next_free.store(static_cast<std::uint32_t>(first & number_mask),
                         std::memory_order_relaxed);
    const std::uint64_t tag = (first >> tag_shift) + 1;
    with = (tag << tag_shift) | (note.number + 1);
  } while (!first_free_.compare_exchange_weak(first, with, std::memory_order_acq_rel));
}

}  // namespace takt::executor
