// SPDX-License-Identifier: Apache-2.0
//
// What is written per stack to measure the cycle of a fieldbus master: exchange process data with
// all slaves once. Pacing, recording and judging the counters are the same for all (bus_loop.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/os/not_granted.hpp"

namespace takt::probe {

/// One exchange of process data.
struct BusCycle {
  os::TimePoint sent{};      ///< read right before the first frame of the cycle goes out
  os::TimePoint received{};  ///< read when its last frame is back; `never` where one was lost
  std::uint16_t working_counter = 0;
  std::uint16_t operational = 0;  ///< slaves that said that they take part
};

/// A fieldbus whose slaves take part in process data, used by one thread.
class Bus {
 public:
  virtual ~Bus() = default;

  /// How many slaves there are, and the working counter of a cycle in which all of them take part.
  virtual std::uint16_t slaves() const noexcept = 0;
  virtual std::uint16_t expected_counter() const noexcept = 0;

  /// Sends the outputs and waits for the inputs, at most as long as a frame may be under way.
  /// Nothing when a stop was requested or it failed, see problem().
  virtual std::optional<BusCycle> exchange() noexcept = 0;

  /// Frames that came and were no answer.
  virtual std::uint64_t foreign_frames() const noexcept { return 0; }

  /// Why exchanging failed, when it did.
  virtual std::optional<os::NotGranted> problem() const { return {}; }
};

/// What the counters of a run were. Together with the samples they tell those of every cycle: each
/// holds until the next change, a lost cycle has none.
struct BusReport {
  struct Change {
    std::uint64_t cycle;
    std::uint16_t working_counter;
    std::uint16_t operational;
  };
  static constexpr std::size_t most_changes = 1000;

  std::uint16_t slaves = 0;
  std::uint16_t expected_counter = 0;
  std::uint64_t wrong_counter = 0;  ///< cycles that came back with another one
  std::vector<Change> changes;      ///< the first ones; the very first is that of the first cycle
  std::uint64_t changes_left_out = 0;
  std::uint64_t foreign_frames = 0;
};

}  // namespace takt::probe
