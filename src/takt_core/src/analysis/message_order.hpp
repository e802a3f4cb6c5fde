// SPDX-License-Identifier: Apache-2.0
//
// The messages of a burst on their way along a path: where each core serves their jobs in one
// order that no run changes, they are delayed once and not again at each callback
// (docs/reference/analysis.md, eq. 39).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "chain_paths.hpp"
#include "later_jobs.hpp"

namespace takt::analysis {

class MessageOrder {
 public:
  // `path` from a root on; `order` of the links with this root, by number.
  MessageOrder(const ChainNet& net, std::span<const std::size_t> path, const LaterJobs& order);

  // Whether a callback of the path runs for several messages of one release of the root.
  [[nodiscard]] bool several() const noexcept;

  // Whether the order is known, if only one instance of the root exists: on a core all jobs of a
  // callback come before those of the callbacks after it on the path.
  [[nodiscard]] bool known() const;

  // The longest time until the path's last job has ended if nobody else delays the messages.
  [[nodiscard]] nanoseconds longest() const;

  // The messages' jobs on a core up to the path's last callback.
  [[nodiscard]] std::int64_t jobs_on(std::size_t core) const;

  // The latest deadline of these jobs after the root's release; nothing: not known.
  [[nodiscard]] std::optional<nanoseconds> due_on(std::size_t core) const;

 private:
  [[nodiscard]] const ChainLink& link(std::size_t place) const { return net_.links[path_[place]]; }
  [[nodiscard]] std::optional<std::size_t> next(std::size_t place) const;
  [[nodiscard]] bool is_never_behind(std::size_t place) const;
  [[nodiscard]] bool has_ended(std::size_t place, std::size_t then) const;
  [[nodiscard]] bool comes_first(std::size_t place, std::size_t then) const;
  [[nodiscard]] bool is_more_urgent(std::size_t place, std::size_t then) const;
  [[nodiscard]] bool takes_time(std::size_t from, std::size_t to) const;
  [[nodiscard]] bool is_ordered(std::size_t place, bool ordered_before) const;

  const ChainNet& net_;
  std::span<const std::size_t> path_;
  std::vector<std::vector<std::size_t>> messages_;  // by place: their links, the first one first
};

}  // namespace takt::analysis
