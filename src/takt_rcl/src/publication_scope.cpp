// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <takt/rcl/publication_scope.hpp>
#include <takt/rcl/publisher_base.hpp>

namespace takt::detail {

void PublicationScope::mark(const PublisherBase& publisher) noexcept {
  constexpr std::size_t last_bit = 63;
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    if (writes_[i].get() == &publisher) {
      published_ |= std::uint64_t{1} << std::min(i, last_bit);
    }
  }
}

}  // namespace takt::detail
