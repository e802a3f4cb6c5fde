// SPDX-License-Identifier: Apache-2.0
//
// The processes of a robot on one core in virtual time: one of them runs, the first that has
// something to run. Servers (SCHED_DEADLINE) come first, by their deadlines, then the others in
// their order.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "partition.hpp"
#include "quota.hpp"
#include "server.hpp"
#include "takt/application/application.hpp"

namespace takt::sim {

class SharedCore {
 public:
  // Which must outlive it.
  explicit SharedCore(std::deque<Partition>& partitions) : partitions_(&partitions) {}

  // The process of this partition; in the order in which they come.
  void add(std::size_t partition, const application::Process& process);

  // The next time at which something happens besides what its partitions know.
  [[nodiscard]] TimePoint next() const noexcept;
  // Gives the core to the first one.
  void decide(TimePoint now) noexcept;

 private:
  struct Member {
    std::size_t partition = 0;
    std::optional<Server> server = {};
    std::optional<Quota> quota = {};
  };

  [[nodiscard]] Partition& of(const Member& member) const noexcept {
    return (*partitions_)[member.partition];
  }
  bool run(Member& member, bool taken, TimePoint now) const noexcept;

  std::deque<Partition>* partitions_;
  std::vector<Member> servers_;
  std::vector<Member> others_;  // in their order; the last one may have a quota
};

}  // namespace takt::sim
