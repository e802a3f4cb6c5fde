// SPDX-License-Identifier: Apache-2.0
//
// BlockPool: memory for the control blocks of shared pointers, so that a unique_ptr that was
// published becomes a shared_ptr for several readers without an allocation in the loop.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <takt/executor/mutex.hpp>
#include <utility>
#include <vector>

namespace takt::detail {

class BlockPool {
 public:
  // Adds room for `blocks` control blocks.
  void grow(std::size_t blocks);

  // From any thread. Null: no block is free, or `bytes` do not fit into one.
  [[nodiscard]] void* get(std::size_t bytes) noexcept;
  // False: the block is not of this pool.
  [[nodiscard]] bool put_back(void* block) noexcept;

 private:
  struct alignas(std::max_align_t) Block {
    std::byte bytes[64];
  };
  struct Slab {
    std::unique_ptr<Block[]> blocks;
    std::size_t size;
  };

  executor::PriorityMutex mutex_;
  std::vector<Slab> slabs_;
  std::vector<void*> free_;  // has room for all blocks
};

// The allocator of a shared pointer; the control block keeps the pool alive.
template <class T>
class BlockAllocator {
 public:
  using value_type = T;

  explicit BlockAllocator(std::shared_ptr<BlockPool> pool) noexcept : pool_{std::move(pool)} {}
  template <class Other>
  explicit BlockAllocator(const BlockAllocator<Other>& other) noexcept : pool_{other.pool()} {}

  [[nodiscard]] T* allocate(std::size_t count) {
    void* const block = pool_->get(count * sizeof(T));
    return static_cast<T*>(block != nullptr ? block : ::operator new(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    if (!pool_->put_back(memory)) ::operator delete(memory);
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
