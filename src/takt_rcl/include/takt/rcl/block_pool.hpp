// SPDX-License-Identifier: Apache-2.0
/// @file
/// BlockPool: memory for the control blocks of shared pointers, so that a published unique_ptr
/// becomes a shared_ptr for several readers without an allocation in the loop.
#pragma once

#include <cstddef>
#include <memory>
#include <takt/executor/mutex.hpp>
#include <takt/rcl/visibility.hpp>
#include <utility>

namespace takt::detail {

/// A pool of memory blocks of one size. Thread-safe.
class TAKT_RCL_PUBLIC BlockPool {
 public:
  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  BlockPool(BlockPool&&) = delete;
  BlockPool& operator=(BlockPool&&) = delete;

  /// Keeps `blocks` more blocks from now on. Allocates.
  void grow(std::size_t blocks);

  /// Keeps `blocks` fewer blocks from now on.
  void shrink(std::size_t blocks) noexcept;

  /// A block of at least `bytes`. Allocates if no block is free or `bytes` do not fit into one.
  [[nodiscard]] void* get(std::size_t bytes);

  /// Returns a block of get() with the same `bytes`.
  void put_back(void* block, std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t block_size = 64;
  struct Free {
    Free* next;
  };

  [[nodiscard]] bool keep(void* block) noexcept;
  [[nodiscard]] void* take(std::size_t but) noexcept;

  executor::PriorityMutex mutex_;
  Free* first_{nullptr};
  std::size_t free_{0};
  std::size_t kept_{0};  ///< the most blocks that may be free
};

/// The allocator of a shared pointer; the control block keeps the pool alive.
template <class T>
class BlockAllocator {
 public:
  using value_type = T;

  explicit BlockAllocator(std::shared_ptr<BlockPool> pool) noexcept : pool_{std::move(pool)} {}
  template <class Other>
  explicit BlockAllocator(const BlockAllocator<Other>& other) noexcept : pool_{other.pool()} {}

  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(pool_->get(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    pool_->put_back(memory, count * sizeof(T));
  }

  [[nodiscard]] const std::shared_ptr<BlockPool>& pool() const noexcept { return pool_; }

  template <class Other>
  bool operator==(const BlockAllocator<Other>& other) const noexcept {
    return pool_ == other.pool();
  }

 private:
  std::shared_ptr<BlockPool> pool_;
};

}  // namespace takt::detail
