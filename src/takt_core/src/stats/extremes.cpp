// SPDX-License-Identifier: Apache-2.0
#include "takt/stats/extremes.hpp"

#include <functional>

namespace takt::stats {
namespace {

// Puts `candidate` in its place among the first `size` of `ranking`, before the first value that it
// `beats`; what moves beyond the end of the ranking is gone.
template <typename Beats>
void insert(std::vector<Extreme>& ranking, std::size_t size, const Extreme& candidate,
            Beats beats) noexcept {
  std::size_t place = size;
  while (place > 0 && beats(candidate.value, ranking[place - 1].value)) {
    if (place < ranking.size()) {
      ranking[place] = ranking[place - 1];
    }
    --place;
  }
  if (place < ranking.size()) {
    ranking[place] = candidate;
  }
}

}  // namespace

Extremes::Extremes(std::size_t capacity) : highest_(capacity), lowest_(capacity) {}

void Extremes::record(std::uint64_t index, std::chrono::nanoseconds value) noexcept {
  insert(highest_, size_, {.index = index, .value = value}, std::greater<>{});
  insert(lowest_, size_, {.index = index, .value = value}, std::less<>{});
  size_ += size_ < highest_.size() ? 1 : 0;
}

}  // namespace takt::stats
