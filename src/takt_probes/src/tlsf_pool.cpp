// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/tlsf_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>

namespace takt::probe {

// Before the memory of each block. The last one of the pool is empty and never free.
struct alignas(TlsfPool::alignment) TlsfPool::Block {
  Block* below;      // the one that ends where this begins; null for the first
  std::size_t size;  // of the memory behind this header
  bool free;

  // Of free blocks only, in their memory.
  struct Links {
    Block* next;
    Block* previous;
  };

  std::byte* memory() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  Links& links() noexcept { return *reinterpret_cast<Links*>(memory()); }
  Block* above() noexcept { return reinterpret_cast<Block*>(memory() + size); }
};

namespace {

constexpr std::size_t most = std::size_t{1} << 38;

// At least what the links of a free block take.
constexpr std::size_t rounded(std::size_t bytes) noexcept {
  constexpr auto step = TlsfPool::alignment;
  return std::max<std::size_t>((bytes + step - 1) / step * step, step);
}

}  // namespace

TlsfPool::TlsfPool(std::size_t bytes) : bytes_{rounded(bytes)} {
  static_assert(sizeof(Block::Links) <= alignment);
  static_assert(sizeof(Block) % alignment == 0);
  if (bytes < least_bytes || bytes > most) {
    throw std::invalid_argument{"a pool has 4 KiB to 256 GiB"};
  }
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::bad_alloc{};
  }
  memory_ = static_cast<std::byte*>(mapped);
  auto* const all = new (memory_) Block{nullptr, bytes_ - 2 * sizeof(Block), true};
  new (all->above()) Block{all, 0, false};
  insert(all);
}

TlsfPool::~TlsfPool() {
  munmap(memory_, bytes_);
}

void* TlsfPool::allocate(std::size_t bytes) noexcept {
  const std::lock_guard lock{mutex_};
  return take(bytes);
}

void* TlsfPool::reallocate(void* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock{mutex_};
  if (memory == nullptr) {
    return take(bytes);
  }
  Block* const block = reinterpret_cast<Block*>(memory) - 1;
  if (bytes <= most && rounded(bytes) <= block->size) {
    const std::size_t before = block->size;
    trim(block, rounded(bytes));
    used_ -= before - block->size;
    return memory;
  }
  void* const fresh = take(bytes);
  if (fresh != nullptr) {
    std::memcpy(fresh, memory, block->size);
    give(block);
  }
  return fresh;
}

void TlsfPool::deallocate(void* memory) noexcept {
  if (memory != nullptr) {
    const std::lock_guard lock{mutex_};
    give(reinterpret_cast<Block*>(memory) - 1);
  }
}

bool TlsfPool::owns(const void* memory) const noexcept {
  const auto* const at = static_cast<const std::byte*>(memory);
  return at >= memory_ && at < memory_ + bytes_;
}

std::size_t TlsfPool::used() const noexcept {
  const std::lock_guard lock{mutex_};
  return used_;
}

std::size_t TlsfPool::peak() const noexcept {
  const std::lock_guard lock{mutex_};
  return peak_;
}

std::uint64_t TlsfPool::refused() const noexcept {
  const std::lock_guard lock{mutex_};
  return refused_;
}

void* TlsfPool::take(std::size_t bytes) noexcept {
  Block* const block = bytes <= most ? find(rounded(bytes)) : nullptr;
  if (block == nullptr) {
    ++refused_;
    return nullptr;
  }
  remove(block);
  block->free = false;
  trim(block, rounded(bytes));
  used_ += block->size + sizeof(Block);
  peak_ = std::max(peak_, used_);
  return block->memory();
}

void TlsfPool::give(Block* block) noexcept {
  used_ -= block->size + sizeof(Block);
  block->free = true;
  Block* const above = block->above();
  if (above->free) {
    remove(above);
    block->size += sizeof(Block) + above->size;
  }
  if (Block* const below = block->below; below != nullptr && below->free) {
    remove(below);
    below->size += sizeof(Block) + block->size;
    block = below;
  }
  block->above()->below = block;
  insert(block);
}

// Leaves the rest of a block that is in use to a free one behind it.
void TlsfPool::trim(Block* block, std::size_t size) noexcept {
  if (block->size < size + sizeof(Block) + alignment) {
    return;
  }
  Block* const end = block->above();
  const std::size_t rest = block->size - size - sizeof(Block);
  block->size = size;
  auto* fresh = new (block->above()) Block{block, rest, true};
  if (end->free) {
    remove(end);
    fresh->size += sizeof(Block) + end->size;
  }
  fresh->above()->below = fresh;
  insert(fresh);
}

// Lists of the first row hold one size each; those of the others a 32nd of a power of two.
TlsfPool::Place TlsfPool::place_of(std::size_t size) noexcept {
  const std::size_t units = size / alignment;
  if (units < seconds) {
    return {.first = 0, .second = static_cast<unsigned>(units)};
  }
  const auto width = static_cast<unsigned>(std::bit_width(units));
  const unsigned shift = width - 1 - second_bits;
  return {.first = shift + 1, .second = static_cast<unsigned>(units >> shift) - seconds};
}

// The first block of a list all of whose blocks are large enough, in constant time.
TlsfPool::Block* TlsfPool::find(std::size_t size) noexcept {
  std::size_t units = size / alignment;
  if (units >= seconds) {  // up to the next list
    units +=
        (std::size_t{1} << (static_cast<unsigned>(std::bit_width(units)) - 1 - second_bits)) - 1;
  }
  auto [first, second] = place_of(units * alignment);
  if (first >= firsts) {
    return nullptr;
  }
  std::uint32_t here = second_maps_[first] & (~std::uint32_t{0} << second);
  if (here == 0) {
    const std::uint64_t larger = first_map_ & (~std::uint64_t{0} << (first + 1));
    if (larger == 0) {
      return nullptr;
    }
    first = static_cast<unsigned>(std::countr_zero(larger));
    here = second_maps_[first];
  }
  return lists_[first][static_cast<unsigned>(std::countr_zero(here))];
}

void TlsfPool::insert(Block* block) noexcept {
  const auto [first, second] = place_of(block->size);
  Block*& head = lists_[first][second];
  block->links() = {.next = head, .previous = nullptr};
  if (head != nullptr) {
    head->links().previous = block;
  }
  head = block;
  first_map_ |= std::uint64_t{1} << first;
  second_maps_[first] |= std::uint32_t{1} << second;
}

void TlsfPool::remove(Block* block) noexcept {
  const auto [first, second] = place_of(block->size);
  const auto [next, previous] = block->links();
  if (next != nullptr) {
    next->links().previous = previous;
  }
  if (previous != nullptr) {
    previous->links().next = next;
    return;
  }
  lists_[first][second] = next;
  if (next == nullptr) {
    second_maps_[first] &= ~(std::uint32_t{1} << second);
    if (second_maps_[first] == 0) {
      first_map_ &= ~(std::uint64_t{1} << first);
    }
  }
}

bool TlsfPool::consistent() const noexcept {
  const std::lock_guard lock{mutex_};
  std::size_t in_use = 0;
  std::size_t free_blocks = 0;
  Block* below = nullptr;
  auto* block = reinterpret_cast<Block*>(memory_);
  while (block->size != 0) {
    if (block->below != below || (block->free && below != nullptr && below->free)) {
      return false;
    }
    in_use += block->free ? 0 : block->size + sizeof(Block);
    free_blocks += block->free ? 1 : 0;
    below = block;
    block = block->above();
  }
  if (block->below != below || block->memory() != memory_ + bytes_ || in_use != used_) {
    return false;
  }
  for (unsigned first = 0; first < firsts; ++first) {
    if (((first_map_ >> first) & 1U) != (second_maps_[first] != 0 ? 1U : 0U)) {
      return false;
    }
    for (unsigned second = 0; second < seconds; ++second) {
      Block* one = lists_[first][second];
      if (((second_maps_[first] >> second) & 1U) != (one != nullptr ? 1U : 0U)) {
        return false;
      }
      for (; one != nullptr; one = one->links().next) {
        const auto [row, column] = place_of(one->size);
        if (!one->free || row != first || column != second || free_blocks-- == 0) {
          return false;
        }
      }
    }
  }
  return free_blocks == 0;
}

}  // namespace takt::probe
