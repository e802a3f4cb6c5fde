// SPDX-License-Identifier: Apache-2.0
//
// Let D(w) be the work of own jobs and I(w) that of those above, of releases in [0, w) of a busy
// period that begins at 0, and let the window begin at d within it. Up to d the core was busy, so
// own jobs have computed for d - I(d) at least. In the window they compute until d + v what was
// released until then, and from there on all the time: for each v of the window
//
//   use <= D(d + v) - (d - I(d)) + (window - v).
//
// The least over v holds, and the largest over d. Between two releases it falls with d, but for
// the part in which the core may still be with jobs above.
#include "own_use.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace takt::analysis {
namespace {

constexpr nanoseconds tick{1};
constexpr std::size_t most_releases = 2'000;
constexpr std::int64_t most_steps = 100'000;

struct Release {
  nanoseconds time{0};
  nanoseconds own{0};
  nanoseconds above{0};
  nanoseconds own_before{0};    // released before this time
  nanoseconds above_before{0};  // the same
};

bool has_bound(std::span<const Use> all, double& load) {
  for (const Use& one : all) {
    if (one.noticed.period.count() <= 0) {
      return false;
    }
    load += static_cast<double>(one.execution.count()) /
            static_cast<double>(one.noticed.period.count());
  }
  return true;
}

nanoseconds work(std::span<const Use> all, nanoseconds until) {
  nanoseconds sum{0};
  for (const Use& one : all) {
    sum += one.noticed.open(until) * one.execution;
  }
  return sum;
}

class Releases {
 public:
  // Whether there are not too many.
  bool add(const Use& use, bool is_own, nanoseconds until) {
    for (std::int64_t k = 0; use.noticed.time(k) <= until; ++k) {
      if (all_.size() == most_releases) {
        return false;
      }
      all_.push_back({.time = use.noticed.time(k),
                      .own = is_own ? use.execution : nanoseconds{0},
                      .above = is_own ? nanoseconds{0} : use.execution});
    }
    return true;
  }

  void sort() {
    std::ranges::sort(all_, {}, &Release::time);
    nanoseconds own{0};
    nanoseconds above{0};
    for (std::size_t first = 0, at = 0; at < all_.size(); first = at) {
      for (; at < all_.size() && all_[at].time == all_[first].time; ++at) {
        all_[at].own_before = own;
        all_[at].above_before = above;
      }
      for (std::size_t i = first; i < at; ++i) {
        own += all_[i].own;
        above += all_[i].above;
      }
    }
  }

  [[nodiscard]] const std::vector<Release>& all() const noexcept { return all_; }

 private:
  std::vector<Release> all_;
};

class Search {
 public:
  Search(std::span<const Use> own, std::span<const Use> above, nanoseconds window)
      : own_(own), above_(above), window_(window) {}

  std::optional<nanoseconds> most(nanoseconds busy) {
    if (!add_releases(busy)) {
      return {};
    }
    consider(nanoseconds{0}, 0);
    const std::vector<Release>& all = releases_.all();
    for (std::size_t at = 0; at < all.size() && all[at].time < busy; ++at) {
      const nanoseconds begin = all[at].time + tick;
      consider(begin, at);
      // Up to here nothing but jobs above need have run.
      const nanoseconds next = at + 1 < all.size() ? all[at + 1].time : busy;
      consider(std::max(begin, std::min({work(above_, begin), next, busy})), at);
    }
    return steps_ > 0 ? std::optional{most_} : std::nullopt;
  }

 private:
  bool add_releases(nanoseconds busy) {
    for (const Use& one : own_) {
      if (!releases_.add(one, true, busy + window_)) {
        return false;
      }
    }
    for (const Use& one : above_) {
      if (!releases_.add(one, false, busy)) {
        return false;
      }
    }
    releases_.sort();
    return true;
  }

  // The window begins at `begin`; releases before number `from` are earlier.
  void consider(nanoseconds begin, std::size_t from) {
    const nanoseconds end = begin + window_;
    const std::vector<Release>& all = releases_.all();
    nanoseconds least = work(own_, end) - end;
    for (std::size_t at = from; at < all.size() && all[at].time <= end && --steps_ > 0; ++at) {
      if (all[at].time >= begin) {
        least = std::min(least, all[at].own_before - all[at].time);
      }
    }
    most_ = std::max(most_, window_ + least + std::min(begin, work(above_, begin)));
  }

  std::span<const Use> own_;
  std::span<const Use> above_;
  nanoseconds window_;
  Releases releases_;
  nanoseconds most_{0};
  std::int64_t steps_ = most_steps;
};

}  // namespace

std::optional<nanoseconds> longest_busy(std::span<const Use> own, std::span<const Use> above) {
  constexpr double near = 1e-9;
  double load = 0;
  if (!has_bound(own, load) || !has_bound(above, load) || load > 1 - near) {
    return {};
  }
  nanoseconds length = tick;
  for (std::int64_t step = 0; step < most_steps; ++step) {
    const nanoseconds next = work(own, length) + work(above, length);
    if (next <= length) {
      return length;
    }
    length = next;
  }
  return {};
}

std::optional<nanoseconds> most_used(std::span<const Use> own, std::span<const Use> above,
                                     nanoseconds window) {
  const std::optional<nanoseconds> busy = longest_busy(own, above);
  return busy ? Search{own, above, window}.most(*busy) : std::nullopt;
}

}  // namespace takt::analysis
