// SPDX-License-Identifier: Apache-2.0
//
// What comes from elsewhere while a subchain is on its way: other subchains of the core, and
// interrupts (docs/reference/analysis.md, eq. 15, 42 and 45).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "subchain_parts.hpp"
#include "subchain_returns.hpp"
#include "subchains.hpp"

namespace takt::analysis {

// What the releases of a first link, or an interrupt, cause on the core.
struct OtherWork {
  ArrivalCount noticed;
  nanoseconds all;
  nanoseconds above;             // the part of it that preempts the last link of the unit
  std::size_t follows = nobody;  // limited by the order of its chain: place in Returns
};

// Several of these, one by one.
class OtherWorks {
 public:
  void reserve(std::size_t most) { works_.reserve(most); }
  void add(const OtherWork& work) { works_.push_back(work); }
  [[nodiscard]] std::size_t size() const noexcept { return works_.size(); }
  [[nodiscard]] const std::vector<OtherWork>& all() const noexcept { return works_; }

  // As Others::begin() and Others::done().
  void begin() noexcept;
  [[nodiscard]] nanoseconds done(nanoseconds start, nanoseconds end, std::int64_t jobs,
                                 const Returns& returns) noexcept;

 private:
  // A part of the sum, and before which time there is no more of it.
  struct Counted {
    nanoseconds same_before = nanoseconds::min();
    nanoseconds part{0};
  };

  std::vector<OtherWork> works_;
  std::vector<Counted> counted_;  // of each
  nanoseconds sum_{0};
};

class Others {
 public:
  // At most so many are added. `root`: of the unit; null: not known.
  Others(const Arrivals* root, std::size_t most) : root_(root) {
    single_.reserve(most);
    added_.reserve(most);
  }

  void add(const OtherWork& work) { single_.add(work); }

  // Of a subchain with this first link, whose jobs are there at the beginning of a busy period
  // until `latest` after the release of their root; nothing: not known.
  void add(const OtherWork& work, const SubchainLink& first, std::optional<nanoseconds> latest);

  // All have been added. At first those of one chain count one by one.
  void complete();

  // From now on those of one chain are as far apart as its order keeps them. False if there are not
  // several of any chain.
  bool keep_apart() noexcept;

  // Of done(), in evaluations of one demand.
  [[nodiscard]] std::size_t effort() const noexcept { return effort_; }

  // From now on done() is asked for the same jobs and way, and for times that do not fall.
  void begin() noexcept;

  // In a busy period, until the end of job number `jobs` of the unit: of what comes in [0, start],
  // and of that which preempts the last link, in [0, end].
  [[nodiscard]] nanoseconds done(nanoseconds start, nanoseconds end, std::int64_t jobs,
                                 const Returns& returns) noexcept;

  // Whether the order of the unit's own chain makes less of it.
  [[nodiscard]] bool follow(nanoseconds end, std::int64_t jobs,
                            const Returns& returns) const noexcept;

  // The same of those of other chains.
  [[nodiscard]] bool are_apart(nanoseconds end, std::int64_t jobs,
                               const Returns& returns) const noexcept;

  // Ways in which the first releases of other chains may come. done() is for one of them.
  [[nodiscard]] std::size_t ways() const noexcept { return apart_ ? ways_ : 1; }
  void choose(std::size_t way) noexcept;
  // done() is for all of them.
  void choose_any() noexcept;

 private:
  // A subchain with a known root.
  struct Added {
    const Arrivals* root = nullptr;
    std::size_t number = 0;
    OtherWork work;
    ChainPart part;
  };
  // Several subchains of one chain.
  struct Chain {
    OtherWorks one_by_one = {};
    ChainParts parts;
    std::vector<std::vector<nanoseconds>> ways;  // in which its first releases may come; none: any
    std::span<const nanoseconds> first = {};     // the present one
  };

  void add_chains();
  [[nodiscard]] nanoseconds together(const Chain& chain, nanoseconds start, nanoseconds end,
                                     nanoseconds one_by_one) const noexcept;

  const Arrivals* root_;
  std::vector<Added> added_;  // until all have been
  OtherWorks single_;
  std::vector<Chain> chains_;
  std::size_t effort_ = 0;
  std::size_t ways_ = 1;
  bool apart_ = false;
};

}  // namespace takt::analysis
