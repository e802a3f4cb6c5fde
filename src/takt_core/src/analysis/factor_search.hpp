// SPDX-License-Identifier: Apache-2.0
//
// The largest factor that is accepted, by halving; 0 when none is. Whoever is asked knows some
// answers at little cost. What nothing is known about is taken for accepted on the way, and only
// the largest of these is asked for in the end: if it is accepted so are the others, and if not the
// way is gone again with what is known then.
#pragma once

#include <algorithm>
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
  explicit FactorSearch(Question& question) : question_(question) {}

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
    double low = 1;
    double high = 1;
    if (accepted(1)) {
      do {
        low = high;
        high *= 2;
      } while (high < most && accepted(high));
      if (high >= most) {
        return most;
      }
    } else {
      do {
        high = low;
        low /= 2;
        if (low < least) {
          return 0;
        }
      } while (!accepted(low));
    }
    while (high > low * precision) {
      const double middle = low + (high - low) / 2;
      (accepted(middle) ? low : high) = middle;
    }
    return low;
  }

  Question& question_;
  double accepted_ = 0;
  double refused_ = std::numeric_limits<double>::infinity();
  double assumed_ = 0;
};

}  // namespace takt::analysis
