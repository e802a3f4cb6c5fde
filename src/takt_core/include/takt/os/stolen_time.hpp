// SPDX-License-Identifier: Apache-2.0
/// @file
/// Steal time: CPU time that a hypervisor gave to other guests while this machine's cores wanted to
/// run (proc_stat(5)). The kernel reports it in ticks of 10 ms and carries the remainder over. It
/// stays zero on hardware and under hypervisors that do not report it.
#pragma once

#include <chrono>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::os {

/// Reads the steal time of all cores from /proc/stat. Not thread-safe.
class TAKT_CORE_PUBLIC StolenTime {
 public:
  /// Opens /proc/stat. Where that fails, read() reports no cores.
  StolenTime();

  /// Closes /proc/stat.
  ~StolenTime();
  StolenTime(const StolenTime&) = delete;
  StolenTime& operator=(const StolenTime&) = delete;
  StolenTime(StolenTime&&) = delete;
  StolenTime& operator=(StolenTime&&) = delete;

  /// The steal time of one core.
  struct OfCore {
    int core = 0;                        ///< Number of the CPU.
    std::chrono::nanoseconds stolen{0};  ///< Since the machine started; a multiple of 10 ms.
  };

  /// Replaces `cores` by all online cores. Takes about 40 us; allocates only if the capacity of
  /// `cores` is too small.
  void read(std::vector<OfCore>& cores);

 private:
  std::vector<char> buffer_;
  int file_ = -1;
};

}  // namespace takt::os
