// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <new>
#include <takt/rcl/block_pool.hpp>

namespace takt::detail {

BlockPool::~BlockPool() {
  while (void* const block = take(0)) {
    ::operator delete(block);
  }
}

void BlockPool::grow(std::size_t blocks) {
  {
    const std::lock_guard lock{mutex_};
    kept_ += blocks;
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    put_back(::operator new(block_size), block_size);
  }
}

void BlockPool::shrink(std::size_t blocks) noexcept {
  std::size_t kept = 0;
  {
    const std::lock_guard lock{mutex_};
    kept = kept_ -= blocks;
  }
  while (void* const block = take(kept)) {
    ::operator delete(block);
  }
}

void* BlockPool::get(std::size_t bytes) {
  if (bytes > block_size) {
    return ::operator new(bytes);
  }
  void* const block = take(0);
  return block != nullptr ? block : ::operator new(block_size);
}

void BlockPool::put_back(void* block, std::size_t bytes) noexcept {
  if (bytes > block_size || !keep(block)) {
    ::operator delete(block);
  }
}

bool BlockPool::keep(void* block) noexcept {
  const std::lock_guard lock{mutex_};
  if (free_ == kept_) {
    return false;
  }
  first_ = std::construct_at(static_cast<Free*>(block), first_);
  ++free_;
  return true;
}

// A free block while there are more than `but` of them, else null.
void* BlockPool::take(std::size_t but) noexcept {
  const std::lock_guard lock{mutex_};
  if (free_ <= but) {
    return nullptr;
  }
  --free_;
  return std::exchange(first_, first_->next);
}

}  // namespace takt::detail
