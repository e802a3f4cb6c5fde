// SPDX-License-Identifier: Apache-2.0
//
// The bound is the quantile of the beta distribution with parameters k + 1 and n - k, whose
// distribution function, the regularised incomplete beta function, is for whole k and n the tail of
// a binomial distribution. That tail is summed term by term, all of them positive, so nothing
// cancels. Its largest term follows Loader (Fast and accurate computation of binomial
// probabilities, 2000), which is exact where differences of lgamma lose nine digits.
#include "takt/stats/exceedance.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>

namespace takt::stats {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// log(n!) minus Stirling's formula log(sqrt(2 pi n) (n/e)^n), for whole n > 0.
double stirling_error(double n) noexcept {
  constexpr double series_from = 16;  // here the first term left out is below 1e-16
  if (n >= series_from) {
    constexpr std::array coefficients{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188};
    double sum = 0;
    double power = n;
    for (const double coefficient : coefficients) {
      sum += coefficient / power;
      power *= n * n;
    }
    return sum;
  }
  double factorial = 1;  // exact up to 18!
  for (int factor = 2; factor <= static_cast<int>(n); ++factor) {
    factorial *= factor;
  }
  return std::log(factorial) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * std::numbers::pi);
}

// x log(x / m) + m - x, given x - m because the caller knows it without cancellation.
double deviance(double x, double m, double x_minus_m) noexcept {
  if (std::abs(x_minus_m) >= 0.1 * (x + m)) {
    return x * std::log(x / m) - x_minus_m;
  }
  const double ratio = x_minus_m / (x + m);
  double sum = x_minus_m * ratio;
  double term = 2 * x * ratio;
  for (int odd = 3;; odd += 2) {
    term *= ratio * ratio;
    const double next = sum + term / odd;
    if (next == sum) {
      return sum;
    }
    sum = next;
  }
}

// Logarithm of the probability of exactly k of n, 0 <= k <= n, 0 < p < 1.
double log_probability(double k, double n, double p) noexcept {
  if (k == 0) {
    return n * std::log1p(-p);
  }
  if (k == n) {
    return n * std::log(p);
  }
  const double above = k - n * p;
  return stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(k, n * p, above) -
         deviance(n - k, n * (1 - p), -above) -
         0.5 * (std::log(2 * std::numbers::pi * k) + std::log1p(-k / n));
}

// A tail as its outermost term times the sum of all terms relative to it.
struct Tail {
  double log_probability;
  double log_slope;  // derivative of log_probability by p
};

// P(X <= k); quick for p >= k / n.
Tail lower_tail(double k, double n, double p) noexcept {
  const double odds = (1 - p) / p;
  double sum = 1;
  double term = 1;
  double i = 0;
  while (i < k && term > epsilon * sum / 8) {
    term *= (k - i) * odds / (n - k + i + 1);
    sum += term;
    ++i;
  }
  return {.log_probability = log_probability(k, n, p) + std::log(sum),
          .log_slope = -(n - k) / ((1 - p) * sum)};
}

// P(X > k); quick for p <= (k + 1) / n.
Tail upper_tail(double k, double n, double p) noexcept {
  const double odds = p / (1 - p);
  double sum = 1;
  double term = 1;
  double i = k + 1;
  while (i < n && term > epsilon * sum / 8) {
    term *= (n - i) * odds / (i + 1);
    sum += term;
    ++i;
  }
  return {.log_probability = log_probability(k + 1, n, p) + std::log(sum),
          .log_slope = (k + 1) / (p * sum)};
}

// The p with P(X > k) = confidence for 0 <= k < n, by Newton's method between two bounds that close
// in. It works on the smaller tail: its logarithm is concave in p, so that Newton's method comes to
// the root from one side. The median of a binomial distribution with whole mean is that mean, hence
// the first bounds.
double solve(double k, double n, double confidence) noexcept {
  const bool lower = confidence >= 0.5;
  const double wanted = std::log(lower ? 1 - confidence : confidence);
  double left = lower ? k / n : 0;
  double right = lower ? 1 : (k + 1) / n;
  double p = (k + 0.5) / n;
  constexpr int enough = 200;  // bisection alone would need about 60
  for (int step = 0; step < enough; ++step) {
    const Tail tail = lower ? lower_tail(k, n, p) : upper_tail(k, n, p);
    const double error = tail.log_probability - wanted;
    ((error > 0) == lower ? left : right) = p;
    double next = p - error / tail.log_slope;
    if (!(next > left && next < right)) {
      next = left + (right - left) / 2;
    }
    if (std::abs(next - p) <= 2 * epsilon * p) {
      return next;
    }
    p = next;
  }
  return p;
}

}  // namespace

Exceedance exceedance(std::uint64_t exceeded, std::uint64_t count, double confidence) {
  if (count == 0) {
    throw std::invalid_argument{"exceedance needs at least one sample"};
  }
  if (exceeded > count) {
    throw std::invalid_argument{"exceeded is " + std::to_string(exceeded) +
                                ", which is more than the count " + std::to_string(count)};
  }
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument{"the confidence must lie between 0 and 1, not " +
                                std::to_string(confidence)};
  }
  const auto k = static_cast<double>(exceeded);
  const auto n = static_cast<double>(count);
  double bound = 1;
  if (exceeded == 0) {
    bound = -std::expm1(std::log1p(-confidence) / n);  // (1 - p)^n = 1 - confidence
  } else if (exceeded < count) {
    bound = solve(k, n, confidence);
  }
  return {.probability = k / n, .upper_bound = bound};
}

}  // namespace takt::stats
