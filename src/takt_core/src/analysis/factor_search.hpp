// SPDX-License-Identifier: Apache-2.0
//
// Finds the largest factor that is accepted; 0 if none is. The search begins at a guess. An answer
// may come with a margin: as responses grow about linearly with execution times, a line through two
// answers leads close to the last accepted factor. Without margins, or if the line leads nowhere,
// the range is halved.
//
// Some answers are cheap. A factor without a cheap answer is assumed to be accepted, and only the
// largest such factor is really tested at the end: if it is accepted, so are all smaller ones;
// otherwise the search is repeated with that knowledge.
//
// Limits that follow from round numbers are simple fractions: 5/6 is found as such, not as 0.8326.
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

  // A cheap answer, if there is one.
  virtual std::optional<bool> known(double factor) = 0;
  virtual bool accepts(double factor) = 0;
  // The smallest time that the last answer left until a deadline; below 0, how late it was.
  [[nodiscard]] virtual std::optional<double> margin() const { return {}; }
};

class FactorSearch {
 public:
  // Without a guess: 1, which assumes the least.
  explicit FactorSearch(Question& question, std::optional<double> guess = {})
      : question_(question),
        guess_(std::clamp(guess.value_or(1), least, most)),
        first_step_(guess ? near : far) {}

  // run(), and then the simplest fraction in what is left of the range, if it is accepted.
  double run_exactly() {
    const double found = run();
    if (found <= 0 || found >= most || high_.factor >= most || Interruptible::interrupted()) {
      return found;
    }
    const double fraction = simplest_between(found, high_.factor);
    const std::optional<bool> known = question_.known(fraction);
    return (known ? *known : question_.accepts(fraction)) ? fraction : found;
  }

  double run() {
    for (;;) {
      assumed_ = 0;
      const double found = narrow();
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
  // Close enough that two answers may suffice.
  static constexpr double near = 1.0009;
  static constexpr double far = 2;
  static constexpr double least = 1e-3;
  static constexpr double most = 1e6;
  static constexpr int most_tries = 2;  // by lines, for half of the range

  // A factor with its answer.
  struct Point {
    double factor = 0;
    std::optional<double> margin = {};
  };

  bool accepted(double factor) {
    margin_.reset();
    if (factor >= refused_ || (factor <= accepted_ && factor != 1)) {
      return factor < refused_;
    }
    if (const std::optional<bool> known = question_.known(factor)) {
      (*known ? accepted_ : refused_) = factor;
      margin_ = question_.margin();
      return *known;
    }
    assumed_ = std::max(assumed_, factor);
    return true;
  }

  // Tests a factor, which becomes one end of the range.
  bool ask(double factor) {
    const bool result = accepted(factor);
    if (result) {
      before_ = low_;
    }
    (result ? low_ : high_) = {.factor = factor, .margin = margin_};
    return result;
  }

  double narrow() {
    low_ = before_ = {};
    high_ = {.factor = std::numeric_limits<double>::infinity()};
    const bool as_declared = ask(1);
    const double from = as_declared ? std::max(guess_, 1.0) : std::min(guess_, 1.0);
    if (from == 1 ? as_declared : ask(from)) {
      go_up();
    } else {
      go_down();
    }
    if (low_.factor <= 0 || low_.factor >= most) {
      return low_.factor;
    }
    double half = std::sqrt(high_.factor / low_.factor);
    for (int tries = 0; high_.factor > low_.factor * precision; ++tries) {
      if (high_.factor <= low_.factor * half) {
        half = std::sqrt(high_.factor / low_.factor);
        tries = 0;
      }
      const std::optional<double> next = tries < most_tries ? crossing(low_, high_) : std::nullopt;
      // Next to an end so close that the range may be narrow enough with the answer.
      ask(next ? std::max(low_.factor * near, std::min(*next, high_.factor / near))
               : std::sqrt(low_.factor * high_.factor));
    }
    return low_.factor;
  }

  void go_up() {
    for (double step = first_step_; low_.factor < most; step = wider(step)) {
      const double next = std::max(low_.factor * step, crossing(before_, low_).value_or(0));
      if (next >= high_.factor || !ask(std::min(most, next))) {
        return;
      }
    }
  }

  void go_down() {
    for (double step = first_step_; high_.factor > least; step = wider(step)) {
      const double next = std::min(high_.factor / step, crossing(low_, high_).value_or(most));
      if (next <= low_.factor || ask(std::max(least, next))) {
        return;
      }
    }
  }

  // Where the line through both points has no margin left.
  static std::optional<double> crossing(const Point& a, const Point& b) noexcept {
    if (!a.margin || !b.margin || *a.margin <= *b.margin) {
      return {};
    }
    return a.factor + *a.margin * (b.factor - a.factor) / (*a.margin - *b.margin);
  }

  // The fraction with the smallest denominator that lies between both (Stern-Brocot tree).
  static double simplest_between(double low, double high) noexcept {
    const double whole = std::floor(low);
    if (whole + 1 < high) {
      return whole + 1;
    }
    if (low <= whole) {  // which lies outside
      return whole + 1 / (std::floor(1 / (high - whole)) + 1);
    }
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole));
  }

  static double wider(double step) noexcept { return std::min(far, step * step * step * step); }

  Question& question_;
  double guess_;
  double first_step_;
  Point low_;     // accepted
  Point before_;  // accepted before that
  Point high_;    // refused
  std::optional<double> margin_;
  double accepted_ = 0;
  double refused_ = std::numeric_limits<double>::infinity();
  double assumed_ = 0;
};

}  // namespace takt::analysis
