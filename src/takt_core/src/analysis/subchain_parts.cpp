// SPDX-License-Identifier: Apache-2.0
#include "subchain_parts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

namespace takt::analysis {

// By one release of the root at this time.
nanoseconds ChainParts::done(nanoseconds release, nanoseconds start,
                             nanoseconds end) const noexcept {
  nanoseconds sum{0};
  for (const ChainPart& part : parts_) {
    if (release + part.latest >= nanoseconds{0}) {
      const nanoseconds comes = release + part.earliest;
      sum += comes <= start ? part.work - part.above : nanoseconds{0};
      sum += comes <= end ? part.above : nanoseconds{0};
    }
  }
  return sum;
}

// Releases may all be earlier, as long as none is nearer to the one before or comes so early that
// one of its jobs has ended: so each is as early as it can be for one of its own jobs, or right
// behind the one before. Where no part is left for which it could be later, there is one way.
std::vector<std::vector<nanoseconds>> ChainParts::ways(std::size_t most) const {
  std::vector<nanoseconds> earliest;  // of a release, for each part
  earliest.reserve(parts_.size());
  std::ranges::transform(parts_, std::back_inserter(earliest),
                         [](const ChainPart& part) { return -part.latest; });
  std::ranges::sort(earliest);
  const auto [from, to] = std::ranges::unique(earliest);
  earliest.erase(from, to);
  std::vector<std::vector<nanoseconds>> result;
  std::vector<std::vector<nanoseconds>> next;
  std::ranges::transform(earliest, std::back_inserter(next),
                         [](nanoseconds release) { return std::vector{release}; });
  for (bool more = true; more && next.size() <= most;) {
    result = std::exchange(next, {});
    more = false;
    for (const std::vector<nanoseconds>& way : result) {
      const nanoseconds soonest = way.back() + distance_;
      const auto later = std::ranges::upper_bound(earliest, soonest);
      next.push_back(way);
      if (later != earliest.end()) {
        more = true;
        next.back().push_back(soonest);
      }
      for (const nanoseconds release : std::ranges::subrange{later, earliest.end()}) {
        next.push_back(way);
        next.back().push_back(release);
      }
    }
  }
  return result;
}

std::optional<nanoseconds> ChainParts::most(nanoseconds start, nanoseconds end,
                                            std::span<const nanoseconds> first) const noexcept {
  constexpr std::size_t most_releases = 64;
  nanoseconds by_first{0};
  for (const nanoseconds release : first) {
    by_first += done(release, start, end);
  }
  const nanoseconds from = first.empty() ? -never / 2 : first.back() + distance_;
  std::array<nanoseconds, most_releases> releases{};
  std::size_t count = 0;
  nanoseconds last = nanoseconds::min();
  for (const ChainPart& part : parts_) {
    last = std::max(last, std::max(start, end) - part.earliest);
  }
  for (const ChainPart& part : parts_) {
    nanoseconds release = -part.latest;
    if (release < from) {
      release += ((from - release - nanoseconds{1}) / distance_ + 1) * distance_;
    }
    for (; release <= last; release += distance_) {
      if (count == most_releases) {
        return {};
      }
      releases[count++] = release;
    }
  }
  std::sort(releases.begin(), releases.begin() + static_cast<std::ptrdiff_t>(count));
  std::array<nanoseconds, most_releases> sums{};  // up to this release
  nanoseconds before{0};
  nanoseconds result{0};
  for (std::size_t i = 0, far = 0; i < count; ++i) {
    for (; releases[far] + distance_ <= releases[i]; ++far) {
      before = std::max(before, sums[far]);
    }
    sums[i] = before + done(releases[i], start, end);
    result = std::max(result, sums[i]);
  }
  return by_first + result;
}

}  // namespace takt::analysis
