// SPDX-License-Identifier: Apache-2.0
#include "pool_memory.hpp"

#include <rcutils/allocator.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace takt::probe {
namespace {

// Never deleted: what was made from it may outlive everything else of the process.
std::atomic<TlsfPool*> the_pool{nullptr};
thread_local bool new_is_the_pools = false;

bool pools(const void* memory) noexcept {
  const TlsfPool* const pool = the_pool.load(std::memory_order_acquire);
  return pool != nullptr && memory != nullptr && pool->owns(memory);
}

void* allocate(std::size_t bytes, void* /*state*/) {
  TlsfPool* const pool = the_pool.load(std::memory_order_acquire);
  return pool != nullptr ? pool->allocate(bytes) : std::malloc(bytes);
}

void deallocate(void* memory, void* /*state*/) {
  if (pools(memory)) {
    the_pool.load()->deallocate(memory);
  } else {
    std::free(memory);
  }
}

// What the heap gave before there was a pool stays the heap's.
void* reallocate(void* memory, std::size_t bytes, void* state) {
  if (memory == nullptr) {
    return allocate(bytes, state);
  }
  return pools(memory) ? the_pool.load()->reallocate(memory, bytes) : std::realloc(memory, bytes);
}

void* zero_allocate(std::size_t number, std::size_t size, void* state) {
  if (size != 0 && number > std::numeric_limits<std::size_t>::max() / size) {
    return nullptr;
  }
  void* const memory = allocate(number * size, state);
  return memory != nullptr ? std::memset(memory, 0, number * size) : nullptr;
}

void* make(std::size_t bytes) {
  TlsfPool* const pool = new_is_the_pools ? the_pool.load(std::memory_order_acquire) : nullptr;
  void* const memory =
      pool != nullptr ? pool->allocate(bytes) : std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) {
    throw std::bad_alloc{};
  }
  return memory;
}

}  // namespace

void start_pool(std::size_t bytes) {
  if (the_pool.load() == nullptr) {
    the_pool.store(new TlsfPool{bytes}, std::memory_order_release);
  }
}

const TlsfPool* pool() noexcept {
  return the_pool.load(std::memory_order_acquire);
}

InPool::InPool() noexcept : before_{new_is_the_pools} {
  new_is_the_pools = true;
}

InPool::~InPool() {
  new_is_the_pools = before_;
}

}  // namespace takt::probe

// In the place of rcutils' own, for all libraries of this process (the program exports it).
extern "C" [[gnu::visibility("default")]] rcutils_allocator_t rcutils_get_default_allocator() {
  return {.allocate = takt::probe::allocate,
          .deallocate = takt::probe::deallocate,
          .reallocate = takt::probe::reallocate,
          .zero_allocate = takt::probe::zero_allocate,
          .state = nullptr};
}

void* operator new(std::size_t bytes) {
  return takt::probe::make(bytes);
}
void* operator new[](std::size_t bytes) {
  return takt::probe::make(bytes);
}
void operator delete(void* memory) noexcept {
  takt::probe::deallocate(memory, nullptr);
}
void operator delete[](void* memory) noexcept {
  takt::probe::deallocate(memory, nullptr);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  takt::probe::deallocate(memory, nullptr);
}
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
  takt::probe::deallocate(memory, nullptr);
}
