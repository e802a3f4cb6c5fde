// SPDX-License-Identifier: Apache-2.0
//
// PublicationScope: which of a task's writes were published while its callback ran, so that only
// their topics count as written anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <takt/rcl/visibility.hpp>
#include <utility>

namespace takt {

class PublisherBase;

namespace detail {

class TAKT_RCL_PUBLIC PublicationScope {
 public:
  // Until it ends, counts what the calling thread publishes. `writes` must outlive it. Nests: an
  // inner scope counts alone.
  explicit PublicationScope(std::span<const std::shared_ptr<PublisherBase>> writes) noexcept
      : writes_{writes}, outer_{std::exchange(current, this)} {}
  ~PublicationScope() { current = outer_; }
  PublicationScope(const PublicationScope&) = delete;
  PublicationScope& operator=(const PublicationScope&) = delete;
  PublicationScope(PublicationScope&&) = delete;
  PublicationScope& operator=(PublicationScope&&) = delete;

  // Bit i: a message was published with writes[i]. The last bit is of the 64th and all after it.
  [[nodiscard]] std::uint64_t published() const noexcept { return published_; }

  // By publishers, for every message that was handed over.
  static void count(const PublisherBase& publisher) noexcept {
    if (current != nullptr) {
      current->mark(publisher);
    }
  }

 private:
  void mark(const PublisherBase& publisher) noexcept;

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
  static inline constinit thread_local PublicationScope* current{nullptr};

  std::span<const std::shared_ptr<PublisherBase>> writes_;
  PublicationScope* outer_;
  std::uint64_t published_{0};
};

}  // namespace detail
}  // namespace takt
