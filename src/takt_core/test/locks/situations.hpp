// SPDX-License-Identifier: Apache-2.0
//
// The situations that a search comes to, each once, the last found first.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace takt::analysis {

template <class Situation>
class Situations {
  static_assert(std::has_unique_object_representations_v<Situation>, "compared byte by byte");

 public:
  explicit Situations(std::size_t most) : most_(most) {}

  void add(const Situation& now) {
    if (visited_.insert(now).second) {
      todo_.push_back(now);
    }
  }

  // Nothing: all were taken, or there are too many.
  std::optional<Situation> next() {
    if (todo_.empty() || visited_.size() > most_) {
      return std::nullopt;
    }
    const Situation now = todo_.back();
    todo_.pop_back();
    return now;
  }

  [[nodiscard]] bool all_taken() const { return todo_.empty(); }

 private:
  static std::string_view bytes(const Situation& now) {
    return {reinterpret_cast<const char*>(&now), sizeof now};
  }
  struct Hash {
    std::size_t operator()(const Situation& now) const {
      return std::hash<std::string_view>{}(bytes(now));
    }
  };
  struct Same {
    bool operator()(const Situation& a, const Situation& b) const { return bytes(a) == bytes(b); }
  };

  std::size_t most_;
  std::unordered_set<Situation, Hash, Same> visited_;
  std::vector<Situation> todo_;
};

}  // namespace takt::analysis
