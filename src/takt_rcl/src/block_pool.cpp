// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <takt/rcl/block_pool.hpp>

namespace takt::detail {

void BlockPool::grow(std::size_t blocks) {
  Slab slab{.blocks = std::make_unique<Block[]>(blocks), .size = blocks};
  const std::lock_guard lock{mutex_};
  std::size_t all = blocks;
  for (const Slab& other : slabs_) all += other.size;
  free_.reserve(all);
  for (std::size_t i = 0; i < blocks; ++i) free_.push_back(&slab.blocks[i]);
  slabs_.push_back(std::move(slab));
}

void* BlockPool::get(std::size_t bytes) noexcept {
  if (bytes > sizeof(Block)) return nullptr;
  const std::lock_guard lock{mutex_};
  if (free_.empty()) return nullptr;
  void* const block = free_.back();
  free_.pop_back();
  return block;
}

bool BlockPool::put_back(void* block) noexcept {
  const std::lock_guard lock{mutex_};
  const bool mine = std::ranges::any_of(slabs_, [block](const Slab& slab) {
    // std::less orders pointers into different arrays, which < does not.
    return !std::less<>{}(block, static_cast<void*>(slab.blocks.get())) &&
           std::less<>{}(block, static_cast<void*>(slab.blocks.get() + slab.size));
  });
  if (mine) free_.push_back(block);
  return mine;
}

}  // namespace takt::detail
