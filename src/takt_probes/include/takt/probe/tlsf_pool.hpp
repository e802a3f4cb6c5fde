// SPDX-License-Identifier: Apache-2.0
//
// Memory of a fixed size that is given and taken back in constant time: two-level segregated fit
// (Masmano et al. 2004, "TLSF: a new dynamic memory allocator for real-time systems"). Free blocks
// stand in lists by size, two bitmaps say which lists hold one, and neighbours are joined at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/executor/mutex.hpp"

namespace takt::probe {

class TlsfPool {
 public:
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t least_bytes = 4096;

  /// Maps and touches all of it. Throws std::bad_alloc, or std::invalid_argument below the least.
  explicit TlsfPool(std::size_t bytes);
  ~TlsfPool();
  TlsfPool(const TlsfPool&) = delete;
  TlsfPool& operator=(const TlsfPool&) = delete;
  TlsfPool(TlsfPool&&) = delete;
  TlsfPool& operator=(TlsfPool&&) = delete;

  /// From any thread, with priority inheritance between them. Null where no free block is large
  /// enough; of no bytes a block, too.
  void* allocate(std::size_t bytes) noexcept;
  /// As realloc(3): what was there stays as far as it fits; where there is no room, all of it.
  void* reallocate(void* memory, std::size_t bytes) noexcept;
  /// What allocate() gave, or null.
  void deallocate(void* memory) noexcept;

  [[nodiscard]] bool owns(const void* memory) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t used() const noexcept;  ///< with the headers of the blocks
  [[nodiscard]] std::size_t peak() const noexcept;  ///< the most that was used
  [[nodiscard]] std::uint64_t refused() const noexcept;

  /// Whether blocks, lists and bitmaps agree: goes through all of them.
  [[nodiscard]] bool consistent() const noexcept;

 private:
  struct Block;
  struct Place {
    unsigned first;
    unsigned second;
  };
  static constexpr unsigned second_bits = 5;
  static constexpr unsigned seconds = 1U << second_bits;
  static constexpr unsigned firsts = 40;

  static Place place_of(std::size_t size) noexcept;
  Block* find(std::size_t size) noexcept;
  void insert(Block* block) noexcept;
  void remove(Block* block) noexcept;
  void trim(Block* block, std::size_t size) noexcept;
  void* take(std::size_t size) noexcept;
  void give(Block* block) noexcept;

  std::size_t bytes_;
  std::byte* memory_ = nullptr;
  std::uint64_t first_map_ = 0;
  std::array<std::uint32_t, firsts> second_maps_{};
  std::array<std::array<Block*, seconds>, firsts> lists_{};
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
  std::uint64_t refused_ = 0;
  mutable executor::PriorityMutex mutex_;
};

}  // namespace takt::probe
