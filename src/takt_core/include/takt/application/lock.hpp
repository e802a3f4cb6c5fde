// SPDX-License-Identifier: Apache-2.0
/// @file
/// Mutexes that callbacks hold while they compute, each with the protocol that bounds how long a
/// more urgent callback waits for it. They matter under preemptive policies only: elsewhere a
/// started callback of a core ends before the next one starts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::application {

using std::chrono::nanoseconds;

/// What keeps others from delaying the holder of a lock.
enum class LockProtocol : std::uint8_t {
  /// Basic priority inheritance (Sha, Rajkumar & Lehoczky 1990; PTHREAD_PRIO_INHERIT): the holder
  /// has the priority of the most urgent job that waits for it.
  inheritance,
  /// Immediate priority ceiling (Baker 1991; PTHREAD_PRIO_PROTECT): the holder has the highest
  /// priority of all callbacks that take the lock.
  ceiling,
  /// A lock across cores (MSRP: Gai, Lipari & Di Natale 2001): from the request to the end of the
  /// section the job keeps its core. Jobs of several cores take it in the order of their requests,
  /// and those that wait spin.
  spin,
  /// A lock across cores for whose holder jobs wait without their core (FMLP+: Brandenburg 2014):
  /// they get it in the order of their requests, and a holder comes before all jobs of its core but
  /// holders that asked for their locks earlier.
  fmlp_plus,
};

/// Whether jobs of several cores may take locks of this protocol.
constexpr bool goes_across_cores(LockProtocol protocol) noexcept {
  return protocol == LockProtocol::spin || protocol == LockProtocol::fmlp_plus;
}

/// A mutex of the application.
struct TAKT_CORE_PUBLIC Lock {
  std::string name = {};                              ///< Unique in the application.
  LockProtocol protocol = LockProtocol::inheritance;  ///< Of the mutex.
};

/// A part of each job during which it holds a lock. A job that computes for less than the worst
/// case leaves out what it does not reach.
struct CriticalSection {
  std::size_t lock = 0;     ///< Index in Application::locks.
  nanoseconds begin{0};     ///< The job takes the lock after this time of computing.
  nanoseconds shortest{0};  ///< It holds the lock for at least this time of computing.
  nanoseconds longest{0};   ///< And for at most this one.

  /// When a job leaves the lock at the latest, in its time of computing.
  [[nodiscard]] nanoseconds end() const noexcept { return begin + longest; }
};

/// Where a job takes or leaves a lock, or waits for something else.
struct LockStep {
  nanoseconds at{0};     ///< After this time of computing.
  std::size_t lock = 0;  ///< Index in Application::locks.
  bool takes = false;    ///< Otherwise it leaves the lock.
  bool waits = false;    ///< It does neither: it waits (Task::waits), and holds no lock.
};

/// The steps of the jobs of one callback, one job after the other. Only construction allocates.
class TAKT_CORE_PUBLIC LockPlan {
 public:
  /// For these sections, in the order of Callback::critical_sections.
  /// @param waits the most times that a job waits.
  explicit LockPlan(const std::vector<CriticalSection>& sections, std::size_t waits = 0);

  /// How long the next job would hold each lock, by section; the longest times until they are set.
  [[nodiscard]] std::span<nanoseconds> lengths() noexcept { return lengths_; }

  /// The steps of a job that computes for so long, ascending in time; valid until the next call. It
  /// leaves out what it does not reach, also an inner section for which the outer one is too short.
  /// @param waits after which times of computing it waits, ascending. No job waits while it holds a
  /// lock, and each computes last: a wait within a section comes after the outermost one, or before
  /// it if the job ends with it.
  [[nodiscard]] std::span<const LockStep> steps_within(
      nanoseconds computing, std::span<const nanoseconds> waits = {}) noexcept;

 private:
  struct Open {
    std::size_t lock;
    nanoseconds declared;  // its end, if it is as long as it may be
    nanoseconds end;
    bool held;
  };

  void leave_until(nanoseconds time) noexcept;
  [[nodiscard]] nanoseconds end_of_outermost(std::size_t taking) const noexcept;
  void add_waits(nanoseconds computing, std::span<const nanoseconds> waits) noexcept;

  std::vector<CriticalSection> sections_;
  std::vector<nanoseconds> lengths_;
  std::vector<LockStep> steps_;
  std::vector<LockStep> with_waits_;
  std::vector<Open> open_;
};

/// The indices of the sections that enclose each of these, the innermost last.
/// @param sections of one callback, ascending by begin, the enclosing one first.
TAKT_CORE_PUBLIC std::vector<std::vector<std::size_t>> enclosing(
    const std::vector<CriticalSection>& sections);

}  // namespace takt::application
