// SPDX-License-Identifier: Apache-2.0
//
// The largest factor that is accepted, by halving; 0 when none is. It begins at a guess: a good one
// takes two or three answers. Whoever is asked knows some answers at little cost. What nothing is
// known about is taken for accepted on the way, and only the largest of these is asked for in the
// end: if it is accepted so are the others, and if not the way is gone again with what is known
// then.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// A verdict for execution times that are a factor longer: the shorter they are, the better.
class Question {
 public:
  Question() = default;
  virtual ~Question() = default;
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  Question(Question&&) = delete;
  Question& operator=(Question&&) = delete;

  // What is known at little cost.
  virtual std::optional<bool> known(double factor) = 0;
  virtual bool accepts(double factor) = 0;
};

class FactorSearch {
 public:
  // Without a guess: 1, which says the least.
  explicit FactorSearch(Question& question, std::optional<double> guess = {})
      : question_(question),
        guess_(std::clamp(guess.value_or(1), least, most)),
        first_step_(guess ? near : far) {}

  double run() {
    for (;;) {
      assumed_ = 0;
      const double found = halve();
      if (assumed_ <= accepted_ || Interruptible::interrupted()) {
        return found;
      }
      if (question_.accepts(assumed_)) {
        accepted_ = assumed_;
        return found;
      }
      refused_ = assumed_;
    }
  }

 private:
  static constexpr double precision = 1.001;
  static constexpr double near = 1.0009;  // so that two answers can do
  static constexpr double far = 2;
  static constexpr double least = 1e-3;
  static constexpr double most = 1e6;

  bool accepted(double factor) {
    if (factor <= accepted_ || factor >= refused_) {
      return factor <= accepted_;
    }
    if (const std::optional<bool> known = question_.known(factor)) {
      (*known ? accepted_ : refused_) = factor;
      return *known;
    }
    assumed_ = std::max(assumed_, factor);
    return true;
  }

  double halve() {
    const bool as_declared = accepted(1);
    low_ = as_declared ? 1 : 0;
    high_ = as_declared ? std::numeric_limits<double>::infinity() : 1;
    const double from = as_declared ? std::max(guess_, 1.0) : std::min(guess_, 1.0);
    if (accepted(from)) {
      low_ = from;
      go_up();
    } else {
      high_ = from;
      go_down();
    }
    if (low_ <= 0 || low_ >= most) {
      return low_;
    }
    while (high_ > low_ * precision) {
      const double middle = std::sqrt(low_ * high_);
      (accepted(middle) ? low_ : high_) = middle;
    }
    return low_;
  }

  void go_up() {
    for (double step = first_step_; low_ < most; step = wider(step)) {
      const double next = std::min(most, low_ * step);
      if (next >= high_) {
        return;
      }
      if (!accepted(next)) {
        high_ = next;
        return;
      }
      low_ = next;
    }
  }

  void go_down() {
    for (double step = first_step_; high_ > least; step = wider(step)) {
      const double next = std::max(least, high_ / step);
      if (next <= low_) {
        return;
      }
      if (accepted(next)) {
        low_ = next;
        return;
      }
      high_ = next;
    }
  }

  static double wider(double step) noexcept { return std::min(far, step * step * step * step); }

  Question& question_;
  double guess_;
  double first_step_;
  double low_ = 0;
  double high_ = 0;
  double accepted_ = 0;
  double refused_ = std::numeric_limits<double>::infinity();
  double assumed_ = 0;
};

}  // namespace takt::analysis
