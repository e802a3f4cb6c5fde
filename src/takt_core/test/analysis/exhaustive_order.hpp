// SPDX-License-Identifier: Apache-2.0
//
// Who gets the core, by the published rules of the policies.
#pragma once

#include <vector>

#include "analysis/exhaustive_situation.hpp"

namespace takt::analysis {

class Order {
 public:
  explicit Order(const Tasks& tasks) : tasks_(tasks) {}

  // Nobody, one, or several where nobody knows whom the kernel prefers.
  [[nodiscard]] std::vector<std::size_t> choose(const Situation& now) const;
  [[nodiscard]] bool preempts() const;

 private:
  [[nodiscard]] bool is_edf() const;
  [[nodiscard]] std::int64_t left(const Situation& now, std::size_t task) const;
  [[nodiscard]] std::int64_t urgency(const Situation& now, std::size_t task) const;
  [[nodiscard]] std::int64_t level(const Situation& now, std::size_t task) const;
  [[nodiscard]] std::size_t first_of_stack(const Situation& now) const;
  [[nodiscard]] bool is_held(const Situation& now, std::size_t task) const;
  [[nodiscard]] bool lets_start(const Situation& now, std::size_t task) const;
  [[nodiscard]] int priority(const Situation& now, std::size_t task) const;

  const Tasks& tasks_;
};

}  // namespace takt::analysis
