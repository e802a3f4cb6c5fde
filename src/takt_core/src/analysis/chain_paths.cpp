// SPDX-License-Identifier: Apache-2.0
#include "chain_paths.hpp"

#include <algorithm>
#include <map>

#include "busy_period.hpp"

namespace takt::analysis {
namespace {

// Longer than so many periods of its root no chain is followed.
constexpr std::int64_t most_periods = 100;

// The part of the path on one core.
struct Visited {
  sched::Level floor = sched::infinite_ceiling;  // the lowest level on the path
  nanoseconds due{0};   // the latest deadline of the path's jobs, after the root's release
  nanoseconds work{0};  // the path's own, and blocking
  std::int64_t visits = 0;
  nanoseconds sum{0};  // with that of rivals
};

// A link on a core of the path, whose jobs may come before those of the path.
struct Rival {
  const Arrivals* releases = nullptr;  // of its root
  nanoseconds offset{0};
  nanoseconds end{0};      // from the release of its root, at most
  nanoseconds due{never};  // the latest release of its root after that of the path's
  nanoseconds execution{0};
  Visited* on = nullptr;  // its core
  bool own = false;       // it has the root of the path
  bool on_path = false;   // the path's own job is counted elsewhere
  bool last = false;      // the last link, or behind it: only earlier instances count
  bool within = false;    // of these, the path's own message releases it before the last one ends
};

class PathTest {
 public:
  PathTest(const ChainNet& net, std::size_t last, Effort& effort)
      : net_(net), last_(last), root_(net.links[last].root), effort_(effort) {}

  Response run() {
    Response result{.bound = {}, .by = By::path};
    if (!visit() || !add_rivals()) {
      return result;
    }
    const nanoseconds most = most_periods * net_.links[root_].demand->releases.period;
    for (nanoseconds time = least_; time <= most;) {
      if (!effort_.spend(rivals_.size() + 1)) {
        return result;
      }
      const nanoseconds next = time_for(time);
      if (next <= time) {
        result.bound = time;
        return result;
      }
      time = next;
    }
    return result;
  }

 private:
  [[nodiscard]] const ChainLink& link(std::size_t i) const { return net_.links[i]; }
  [[nodiscard]] const ChainCore& core(std::size_t i) const { return net_.cores[link(i).core]; }

  // False if a core of the path does not keep the order.
  bool visit() {
    std::vector<std::size_t> path;
    for (std::size_t i = last_; i != nobody; i = link(i).before) {
      path.push_back(i);
    }
    std::ranges::reverse(path);
    on_path_.assign(net_.links.size(), false);
    behind_.assign(net_.links.size(), false);
    within_.assign(net_.links.size(), false);
    for (const std::size_t i : path) {
      on_path_[i] = true;
      const Demand& demand = *link(i).demand;
      const std::optional<nanoseconds> entry =
          link(i).before == nobody ? std::optional{nanoseconds{0}} : net_.latencies[link(i).before];
      if (!core(i).usable || !entry) {
        return false;
      }
      lag_ += demand.lag;
      least_ += demand.execution + demand.lag;
      Visited& visited = visited_[link(i).core];
      visited.work += demand.execution;
      visited.floor = std::min(visited.floor, demand.level);
      visited.due = std::max(visited.due, *entry + demand.deadline);
    }
    for (std::size_t i = last_ + 1; i < net_.links.size(); ++i) {
      const std::size_t before = link(i).before;
      behind_[i] = before != nobody && (before == last_ || behind_[before]);
      within_[i] = before != nobody && (before == last_ || within_[before]) && runs_within_last(i);
    }
    for (std::size_t k = 0; k < path.size();) {
      const std::size_t begin = k;
      for (++k; k < path.size() && link(path[k]).joined;) {
        ++k;
      }
      Visited& visited = visited_[link(path[begin]).core];
      ++visited.visits;
      const nanoseconds blocked = blocking({path.begin() + static_cast<std::ptrdiff_t>(begin),
                                            path.begin() + static_cast<std::ptrdiff_t>(k)});
      visited.work += blocked;
      least_ += blocked;
    }
    return true;
  }

  // Whether a job of the link, which the message of the path's last job has led to, may run before
  // that job has ended: on other cores, or where it preempts it.
  [[nodiscard]] bool runs_within_last(std::size_t i) const {
    const Demand& demand = *link(i).demand;
    const Demand& last = *link(last_).demand;
    return link(i).core != link(last_).core || demand.level > std::max(last.level, last.ceiling);
  }

  // Of one job that started before this part of the path came to the core.
  [[nodiscard]] nanoseconds blocking(std::span<const std::size_t> part) const {
    const ChainCore& here = core(part.front());
    nanoseconds longest{0};
    if (here.by_level || (here.by_deadline && !here.preemptive)) {
      sched::Level floor = sched::infinite_ceiling;
      for (const std::size_t i : part) {
        floor = std::min(floor, link(i).demand->level);
      }
      for (const std::size_t i : here.links) {
        const Demand& demand = *link(i).demand;
        const bool lower = here.by_deadline || (demand.level < floor && demand.ceiling >= floor);
        if (lower && demand.execution.count() > 0) {
          longest = std::max(longest, demand.execution - here.supply.head_start());
        }
      }
    }
    return longest + net_.release_overhead;
  }

  // False if one of them has no bound.
  bool add_rivals() {
    for (auto& [at, visited] : visited_) {
      const ChainCore& here = net_.cores[at];
      if (!add_interrupts(here, visited)) {
        return false;
      }
      for (const std::size_t i : here.links) {
        const Demand& demand = *link(i).demand;
        const bool runs = !here.by_level || demand.level >= visited.floor;
        if (!runs && net_.release_overhead.count() == 0) {
          continue;
        }
        const Arrivals& releases = link(link(i).root).demand->releases;
        if (!net_.latencies[i] || releases.period.count() <= 0) {
          return false;
        }
        Rival rival{.releases = &releases,
                    .offset = link(i).offset,
                    .end = *net_.latencies[i],
                    .execution = net_.release_overhead,
                    .on = &visited,
                    .own = link(i).root == root_};
        if (rival.execution.count() > 0) {  // each release is noticed
          rivals_.push_back(rival);
        }
        if (!runs) {
          continue;
        }
        rival.execution = demand.execution;
        rival.on_path = on_path_[i];
        rival.last = i == last_ || behind_[i];
        rival.within = within_[i] && link(i).core == link(last_).core;
        if (here.by_deadline) {
          rival.due = visited.due - demand.deadline - rival.offset;
        }
        rivals_.push_back(rival);
      }
    }
    return true;
  }

  // Those that come within the path, and before it, as long as they may last.
  bool add_interrupts(const ChainCore& here, Visited& visited) {
    if (here.interrupts.empty()) {
      return true;
    }
    const auto busy = busy_period(here.interrupts, nanoseconds{0}, effort_, here.supply);
    if (!busy) {
      return false;
    }
    for (const Demand& interrupt : here.interrupts) {
      rivals_.push_back({.releases = &interrupt.releases,
                         .end = *busy,
                         .execution = interrupt.execution,
                         .on = &visited});
    }
    return true;
  }

  // Jobs that may run within `time` after the release of the path's root: their roots were released
  // after `end` before that, and not so late that they are released, or due, too late.
  static std::int64_t jobs(const Rival& rival, nanoseconds time) noexcept {
    constexpr nanoseconds tick{1};
    const nanoseconds latest = std::min(time - rival.offset - tick, rival.due);
    const nanoseconds window = latest + rival.end - tick;
    const std::int64_t all = window.count() < 0 ? 0 : rival.releases->closed(window);
    if (!rival.own) {
      return all;
    }
    const std::int64_t earlier = rival.releases->closed(rival.end - tick) - 1;
    if (rival.last) {
      return std::min(earlier + (rival.within ? 1 : 0), all);
    }
    const std::int64_t from_now = latest.count() < 0 ? 0 : rival.releases->closed(latest);
    const std::int64_t counted = rival.on_path ? 1 : 0;
    return std::max<std::int64_t>(0, std::min(earlier + from_now, all) - counted);
  }

  // In which all cores provide what the path waits for. Of several visits of a core each may begin
  // without supply, and how the work is spread over them is not known.
  [[nodiscard]] nanoseconds time_for(nanoseconds time) noexcept {
    for (auto& [at, visited] : visited_) {
      visited.sum = visited.work;
    }
    for (const Rival& rival : rivals_) {
      rival.on->sum += jobs(rival, time) * rival.execution;
    }
    nanoseconds result = lag_;
    for (const auto& [at, visited] : visited_) {
      const Supply& supply = net_.cores[at].supply;
      result += visited.visits == 1 ? supply.time_for(visited.sum)
                                    : supply.time_in_parts(visited.sum, visited.visits);
    }
    return result;
  }

  const ChainNet& net_;
  std::size_t last_;
  std::size_t root_;
  Effort& effort_;
  std::map<std::size_t, Visited> visited_;  // by core
  std::vector<bool> on_path_;
  std::vector<bool> behind_;
  std::vector<bool> within_;  // of those behind: may run before the last one has ended
  std::vector<Rival> rivals_;
  nanoseconds least_{0};  // the path's own, and blocking
  nanoseconds lag_{0};    // until the path's jobs are noticed
};

}  // namespace

Response path_latency(const ChainNet& net, std::size_t last, Effort& effort) {
  return PathTest{net, last, effort}.run();
}

}  // namespace takt::analysis
