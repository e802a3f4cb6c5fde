// SPDX-License-Identifier: Apache-2.0
#include "subchain_others.hpp"

#include <algorithm>
#include <iterator>

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
  const std::int64_t until_end = count(other, end, jobs, returns);
  return start == end ? until_end * other.all
                      : count(other, start, jobs, returns) * (other.all - other.above) +
                            until_end * other.above;
}

}  // namespace

void Others::add(const OtherWork& work, const SubchainLink& first,
                 std::optional<nanoseconds> latest) {
  const bool known = latest && root_ != nullptr && first.root != nullptr && first.root != root_ &&
                     first.root->period.count() > 0;
  const nanoseconds distance = known ? first.root->time(1) : nanoseconds{0};
  if (distance.count() <= 0) {
    add(work);
    return;
  }
  auto chain = std::ranges::find(chains_, first.root, &Chain::root);
  if (chain == chains_.end()) {
    chains_.push_back({.root = first.root, .parts = ChainParts{distance}});
    chain = std::prev(chains_.end());
  }
  chain->one_by_one.push_back(work);
  chain->parts.add(
      {.earliest = first.from_root, .latest = *latest, .work = work.all, .above = work.above});
}

void Others::complete() {
  for (const Chain& chain : chains_) {
    if (chain.one_by_one.size() == 1) {
      add(chain.one_by_one.front());
    }
  }
  std::erase_if(chains_, [](const Chain& chain) { return chain.one_by_one.size() == 1; });
  effort_ = single_.size();
  for (Chain& chain : chains_) {
    effort_ += chain.one_by_one.size();
    chain.chosen = ways_ * chain.parts.size() <= most_ways;
    ways_ *= chain.chosen ? chain.parts.size() : 1;
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
    if (chain.chosen) {
      chain.first = way % chain.parts.size();
      way /= chain.parts.size();
    }
  }
}

void Others::choose_any() noexcept {
  for (Chain& chain : chains_) {
    chain.first = nobody;
  }
}

nanoseconds Others::sum(const Chain& chain, nanoseconds start, nanoseconds end, std::int64_t jobs,
                        const Returns& returns) noexcept {
  nanoseconds result{0};
  for (const OtherWork& other : chain.one_by_one) {
    result += done_by(other, start, end, jobs, returns);
  }
  return result;
}

nanoseconds Others::together(const Chain& chain, nanoseconds start, nanoseconds end,
                             nanoseconds one_by_one) const noexcept {
  const auto most = apart_ ? chain.parts.most(start, end, chain.first) : std::nullopt;
  return std::min(most.value_or(one_by_one), one_by_one);
}

nanoseconds Others::done(nanoseconds start, nanoseconds end, std::int64_t jobs,
                         const Returns& returns) const noexcept {
  nanoseconds result{0};
  for (const OtherWork& other : single_) {
    result += done_by(other, start, end, jobs, returns);
  }
  for (const Chain& chain : chains_) {
    result += together(chain, start, end, sum(chain, start, end, jobs, returns));
  }
  return result;
}

bool Others::follow(nanoseconds end, std::int64_t jobs, const Returns& returns) const noexcept {
  return std::ranges::any_of(single_, [&](const OtherWork& other) {
    return other.follows != nobody &&
           returns.most(other.follows, jobs) < other.noticed.closed(end - nanoseconds{1});
  });
}

bool Others::are_apart(nanoseconds end, std::int64_t jobs, const Returns& returns) const noexcept {
  const nanoseconds last = end - nanoseconds{1};
  return std::ranges::any_of(chains_, [&](const Chain& chain) {
    const nanoseconds one_by_one = sum(chain, last, last, jobs, returns);
    return together(chain, last, last, one_by_one) < one_by_one;
  });
}

}  // namespace takt::analysis
