// SPDX-License-Identifier: Apache-2.0
#include "subchain_others.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace takt::analysis {
namespace {

// More of them are looked at together.
constexpr std::size_t most_ways = 16;

// Jobs in [0, window]; `jobs` of the unit: those up to the one that is looked at, or all.
std::int64_t count(const OtherWork& other, nanoseconds window, std::int64_t jobs,
                   const Returns& returns) noexcept {
  const std::int64_t noticed = other.noticed.closed(window);
  return other.follows == nobody ? noticed : std::min(noticed, returns.most(other.follows, jobs));
}

nanoseconds done_by(const OtherWork& other, nanoseconds start, nanoseconds end, std::int64_t jobs,
                    const Returns& returns) noexcept {
  return count(other, start, jobs, returns) * (other.all - other.above) +
         count(other, end, jobs, returns) * other.above;
}

// All of `works`, in [0, window].
nanoseconds sum(const OtherWorks& works, nanoseconds window, std::int64_t jobs,
                const Returns& returns) noexcept {
  nanoseconds result{0};
  for (const OtherWork& other : works.all()) {
    result += count(other, window, jobs, returns) * other.all;
  }
  return result;
}

}  // namespace

void OtherWorks::begin() noexcept {
  counted_.assign(works_.size(), {});
  sum_ = nanoseconds{0};
}

// Where all counts at once, only those whose number has changed since the time before.
nanoseconds OtherWorks::done(nanoseconds start, nanoseconds end, std::int64_t jobs,
                             const Returns& returns) noexcept {
  if (start != end) {
    nanoseconds result{0};
    for (const OtherWork& other : works_) {
      result += done_by(other, start, end, jobs, returns);
    }
    return result;
  }
  for (std::size_t i = 0; i < works_.size(); ++i) {
    Counted& counted = counted_[i];
    if (end < counted.same_before) {
      continue;
    }
    const OtherWork& other = works_[i];
    const std::int64_t noticed = other.noticed.closed(end);
    const std::int64_t most = other.follows == nobody ? noticed : returns.most(other.follows, jobs);
    const nanoseconds part = std::min(noticed, most) * other.all;
    sum_ += part - counted.part;
    counted = {.same_before = most < noticed ? never : other.noticed.time(noticed), .part = part};
  }
  return sum_;
}

void Others::add(const OtherWork& work, const SubchainLink& first,
                 std::optional<nanoseconds> latest) {
  const bool known = latest && root_ != nullptr && first.root != nullptr && first.root != root_ &&
                     first.root->period.count() > 0;
  if (!known || first.root->time(1).count() <= 0) {
    add(work);
    return;
  }
  added_.push_back(
      {.root = first.root,
       .number = added_.size(),
       .work = work,
       .part = {
           .earliest = first.from_root, .latest = *latest, .work = work.all, .above = work.above}});
}

// Chains in the order in which their first subchains have been added.
void Others::add_chains() {
  std::ranges::sort(added_, [](const Added& a, const Added& b) {
    return a.root != b.root ? std::less{}(a.root, b.root) : a.number < b.number;
  });
  std::vector<std::span<const Added>> several;
  for (auto begin = added_.cbegin(); begin != added_.cend();) {
    const auto end = std::find_if(begin, added_.cend(),
                                  [&](const Added& one) { return one.root != begin->root; });
    if (end - begin == 1) {
      add(begin->work);
    } else {
      several.emplace_back(begin, end);
    }
    begin = end;
  }
  std::ranges::sort(several, std::less{},
                    [](std::span<const Added> one) { return one.front().number; });
  for (const std::span<const Added> subchains : several) {
    Chain chain{.parts = ChainParts{subchains.front().root->time(1)}, .ways = {}};
    for (const Added& one : subchains) {
      chain.one_by_one.add(one.work);
      chain.parts.add(one.part);
    }
    chains_.push_back(std::move(chain));
  }
}

void Others::complete() {
  add_chains();
  effort_ = single_.size();
  for (Chain& chain : chains_) {
    effort_ += chain.one_by_one.size();
    chain.ways = chain.parts.ways(most_ways / ways_);
    ways_ *= std::max<std::size_t>(1, chain.ways.size());
  }
}

bool Others::keep_apart() noexcept {
  apart_ = !chains_.empty();
  for (const Chain& chain : chains_) {
    effort_ += chain.parts.effort();
  }
  return apart_;
}

void Others::choose(std::size_t way) noexcept {
  for (Chain& chain : chains_) {
    if (!chain.ways.empty()) {
      chain.first = chain.ways[way % chain.ways.size()];
      way /= chain.ways.size();
    }
  }
}

void Others::choose_any() noexcept {
  for (Chain& chain : chains_) {
    chain.first = {};
  }
}

void Others::begin() noexcept {
  single_.begin();
  for (Chain& chain : chains_) {
    chain.one_by_one.begin();
  }
}

nanoseconds Others::together(const Chain& chain, nanoseconds start, nanoseconds end,
                             nanoseconds one_by_one) const noexcept {
  const auto most = apart_ ? chain.parts.most(start, end, chain.first) : std::nullopt;
  return std::min(most.value_or(one_by_one), one_by_one);
}

nanoseconds Others::done(nanoseconds start, nanoseconds end, std::int64_t jobs,
                         const Returns& returns) noexcept {
  nanoseconds result = single_.done(start, end, jobs, returns);
  for (Chain& chain : chains_) {
    result += together(chain, start, end, chain.one_by_one.done(start, end, jobs, returns));
  }
  return result;
}

bool Others::follow(nanoseconds end, std::int64_t jobs, const Returns& returns) const noexcept {
  return std::ranges::any_of(single_.all(), [&](const OtherWork& other) {
    return other.follows != nobody &&
           returns.most(other.follows, jobs) < other.noticed.closed(end - nanoseconds{1});
  });
}

bool Others::are_apart(nanoseconds end, std::int64_t jobs, const Returns& returns) const noexcept {
  const nanoseconds last = end - nanoseconds{1};
  return std::ranges::any_of(chains_, [&](const Chain& chain) {
    const nanoseconds one_by_one = sum(chain.one_by_one, last, jobs, returns);
    return together(chain, last, last, one_by_one) < one_by_one;
  });
}

}  // namespace takt::analysis
