// SPDX-License-Identifier: Apache-2.0
#include "subchain_parts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

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
// behind the one before.
std::optional<nanoseconds> ChainParts::most(nanoseconds start, nanoseconds end,
                                            std::size_t first) const noexcept {
  constexpr std::size_t most_releases = 64;
  const nanoseconds by_first =
      first == nobody ? nanoseconds{0} : done(-parts_[first].latest, start, end);
  const nanoseconds from = first == nobody ? -never / 2 : distance_ - parts_[first].latest;
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
