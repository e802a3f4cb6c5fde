// SPDX-License-Identifier: Apache-2.0
//
// Rows of C++ as columns of numpy: nothing is copied, the columns of a table share its memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace takt {

template <typename Row>
class Columns {
 public:
  explicit Columns(std::vector<Row> rows) {
    auto held = std::make_unique<std::vector<Row>>(std::move(rows));
    data_ = held->data();
    count_ = held->size();
    owner_ = nanobind::capsule(held.release(), [](void* data) noexcept {
      const std::unique_ptr<std::vector<Row>> last{static_cast<std::vector<Row>*>(data)};
    });
  }

  template <typename Value>
  Columns& add(const char* name, Value Row::*member) {
    using Shown = std::conditional_t<std::is_enum_v<Value>, std::uint8_t, Value>;
    static_assert(sizeof(Shown) == sizeof(Value) && sizeof(Row) % sizeof(Value) == 0);
    static const Row none{};
    const void* const first = &((count_ == 0 ? &none : data_)->*member);
    columns_[name] =
        nanobind::cast(nanobind::ndarray<nanobind::numpy, const Shown, nanobind::ndim<1>>(
            first, {count_}, owner_, {static_cast<std::int64_t>(sizeof(Row) / sizeof(Value))}));
    return *this;
  }

  [[nodiscard]] nanobind::dict dict() const { return columns_; }

 private:
  const Row* data_ = nullptr;
  std::size_t count_ = 0;
  nanobind::capsule owner_;
  nanobind::dict columns_;
};

// One column that is a vector of its own.
template <typename Value>
nanobind::object column(std::vector<Value> values) {
  auto held = std::make_unique<std::vector<Value>>(std::move(values));
  const std::vector<Value>& kept = *held;
  const nanobind::capsule owner(held.release(), [](void* data) noexcept {
    const std::unique_ptr<std::vector<Value>> last{static_cast<std::vector<Value>*>(data)};
  });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, const Value, nanobind::ndim<1>>(
      kept.data(), {kept.size()}, owner));
}

}  // namespace takt
