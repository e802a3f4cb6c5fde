// SPDX-License-Identifier: Apache-2.0
//
// CPU time that a hypervisor gave to other guests while this machine's cores wanted to run (steal,
// proc_stat(5)). The kernel tells it in ticks of 10 ms, summed up: less shows only when it adds up
// to a tick. On hardware, and where the hypervisor does not tell, it stays zero.
#pragma once

#include <chrono>
#include <vector>

#include "takt/visibility.hpp"

namespace takt::os {

class TAKT_CORE_PUBLIC StolenTime {
 public:
  // Without /proc/stat there is nothing to read, and read() tells of no core.
  StolenTime();
  ~StolenTime();
  StolenTime(const StolenTime&) = delete;
  StolenTime& operator=(const StolenTime&) = delete;
  StolenTime(StolenTime&&) = delete;
  StolenTime& operator=(StolenTime&&) = delete;

  struct OfCore {
    int core = 0;
    std::chrono::nanoseconds stolen{0};  // since the machine started
  };
  // Replaces `cores` by all that are online; takes some 40 us. One thread at a time. Allocates only
  // where `cores` has too little room.
  void read(std::vector<OfCore>& cores);

 private:
  std::vector<char> buffer_;
  int file_ = -1;
};

}  // namespace takt::os
