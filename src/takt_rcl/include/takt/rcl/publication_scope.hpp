// SPDX-License-Identifier: Apache-2.0
/// @file
/// PublicationScope: records on which of a task's topics its callback published, so that only their
/// sample times are renewed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <takt/rcl/visibility.hpp>
#include <utility>

namespace takt {

class PublisherBase;

namespace detail {

/// Records the publications of the calling thread.
class TAKT_RCL_PUBLIC PublicationScope {
 public:
  /// Records what the calling thread publishes until the end of the scope. `writes` must outlive
  /// it. Scopes nest: only the innermost one records.
  explicit PublicationScope(std::span<const std::shared_ptr<PublisherBase>> writes) noexcept
      : writes_{writes}, outer_{std::exchange(current, this)} {}
  ~PublicationScope() { current = outer_; }
  PublicationScope(const PublicationScope&) = delete;
  PublicationScope& operator=(const PublicationScope&) = delete;
  PublicationScope(PublicationScope&&) = delete;
  PublicationScope& operator=(PublicationScope&&) = delete;

  /// Bit i: a message was published with writes[i]. The last bit represents the 64th and all later
  /// ones.
  [[nodiscard]] std::uint64_t published() const noexcept { return published_; }

  /// Called by publishers for every message that was handed over.
  static void count(const PublisherBase& publisher) noexcept {
    if (current != nullptr) {
      current->mark(publisher);
    }
  }

 private:
  void mark(const PublisherBase& publisher) noexcept;

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): thread_local
  static inline constinit thread_local PublicationScope* current{nullptr};

  std::span<const std::shared_ptr<PublisherBase>> writes_;
  PublicationScope* outer_;
  std::uint64_t published_{0};
};

}  // namespace detail
}  // namespace takt
