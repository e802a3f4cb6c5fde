// SPDX-License-Identifier: Apache-2.0
//
// A subchain under EDF: Spuri's busy period (1996), in which a job counts if its deadline may come
// before the last deadline of the subchain's jobs. A link is released no earlier than the least
// executions before it allow, and no later than the bound of the link before.
#include <algorithm>
#include <limits>
#include <ranges>

#include "arrival_count.hpp"
#include "later_jobs.hpp"
#include "subchains.hpp"

namespace takt::analysis {
namespace {

// Jobs of one link that count.
struct Rival {
  ArrivalCount releases;  // of the first link of its subchain
  ArrivalCount noticed;
  nanoseconds delay{0};  // from the noticing of the first link to the link's deadline, at least
  nanoseconds execution{0};
  std::int64_t before = 0;  // so many are counted elsewhere
  std::int64_t most = 0;    // due in time

  [[nodiscard]] std::int64_t due(nanoseconds time) const noexcept {
    return time < delay ? 0 : releases.closed(time - delay);
  }
};

class DeadlineTest {
 public:
  DeadlineTest(const Subchains& core, std::size_t last,
               std::span<const std::optional<nanoseconds>> latencies, bool preemptive,
               Effort& effort)
      : core_(core),
        last_(last),
        first_(core.links[last].first),
        own_(core.demand(first_)),
        path_(core.path(last)),
        preemptive_(preemptive),
        effort_(effort),
        on_path_(core.links.size(), false),
        behind_(core.behind(last)),
        within_(core.within(last, [&](const Demand& other) {
          return preemptive && other.deadline < core.demand(last).deadline;
        })) {
    for (const std::size_t link : path_) {
      on_path_[link] = true;
      const std::size_t before = core.links[link].before;
      const std::optional<nanoseconds> entry =
          before == nobody ? std::optional{nanoseconds{0}} : latencies[before];
      known_ = known_ && entry;
      due_.push_back(entry.value_or(nanoseconds{0}) + core.demand(link).deadline);
    }
    horizon_ = *std::ranges::max_element(due_);
    add_rivals();
    add_blocking();
  }

  Response run() {
    Response result{
        .bound = {}, .blocking = blocking_, .by = ordered_ ? By::subchain_messages : By::subchain};
    const bool begins = effort_.spend(6 * core_.links.size());
    const auto busy = begins && known_ ? busy_period() : std::nullopt;
    if (!busy) {
      return result;
    }
    nanoseconds worst{0};
    for (nanoseconds at{0}; at < *busy;) {
      const auto end = finish(at);
      const auto next = next_change(at);
      if (!end || !next) {
        return result;
      }
      worst = std::max(worst, *end - at);
      at = *next;
    }
    result.bound = worst + own_.lag;
    return result;
  }

 private:
  // The latest deadline of the subchain's jobs, counted from the beginning of the busy period, if
  // the first link is released then or `at` later.
  [[nodiscard]] nanoseconds due(nanoseconds at) const noexcept { return at - own_.lag + horizon_; }

  void add_rivals() {
    std::vector<nanoseconds> delay(core_.links.size());
    std::vector<nanoseconds> later(core_.links.size());
    std::vector<nanoseconds> sooner(core_.links.size());  // on the path: the deadlines after it
    const LaterJobs order{path_, core_.links.size(),
                          [&](std::size_t i) { return core_.links[i].before; },
                          [&](std::size_t i) { return core_.demand(i).task; }};
    nanoseconds latest{0};
    for (std::size_t k = path_.size(); k-- > 0;) {
      sooner[path_[k]] = horizon_ - latest;
      latest = std::max(latest, due_[k]);
    }
    for (std::size_t i = 0; i < core_.links.size(); ++i) {
      const SubchainLink& link = core_.links[i];
      const Demand& first = core_.demand(link.first);
      delay[i] = link.offset + core_.demand(i).deadline - first.lag;
      later[i] = delay[i] + sooner[i];
      if (link.before != nobody) {
        delay[i] = std::max(delay[i], delay[link.before]);
        later[i] = std::max(later[i], later[link.before]);
      }
      Rival rival{.releases = ArrivalCount{first.releases},
                  .noticed = ArrivalCount{first.noticed()},
                  .delay = delay[i],
                  .execution = core_.demand(i).execution};
      if (link.first != first_) {
        rivals_.push_back(rival);
        continue;
      }
      earlier_.push_back(rival);
      const bool comes_after = order.place(i) + 1 == path_.size();
      earlier_.back().before =
          (behind_[i] && !within_[i]) || (comes_after && order.later_message(i)) ? 1 : 0;
      ordered_ = ordered_ || (comes_after && order.later_message(i));
      earlier_.back().most = on_path_[i] ? always : 0;
      if (!comes_after) {
        rival.delay = later[i];
        later_.push_back(rival);
      }
    }
  }

  // As under fixed priorities, one job that is due later may run, or end, at the beginning.
  void add_blocking() {
    std::vector<nanoseconds> follow(core_.links.size());
    for (std::size_t i = core_.links.size(); i-- > 0;) {
      const Demand& demand = core_.demand(i);
      const nanoseconds runs =
          preemptive_ ? nanoseconds{0} : demand.execution - core_.supply.head_start();
      longest_ = std::max(longest_, runs);
      if (demand.deadline > horizon_ - own_.lag) {
        blocking_ = std::max(blocking_, runs + follow[i]);
      }
      if (core_.links[i].before != nobody) {
        follow[core_.links[i].before] += demand.execution + follow[i];
      }
    }
    blocking_ += core_.late_notice;
    longest_ += core_.late_notice;
  }

  // Of the whole core.
  std::optional<nanoseconds> busy_period() {
    double share = 0;
    std::vector<const Demand*> all = core_.interrupts;
    for (const SubchainLink& link : core_.links) {
      all.push_back(link.demand);
    }
    for (const Demand* const demand : all) {
      share += utilization(*demand);
    }
    if (!(share <= core_.supply.rate())) {
      return {};
    }
    nanoseconds time = longest_ + own_.execution;
    for (;;) {
      if (!effort_.spend(all.size())) {
        return {};
      }
      nanoseconds sum = longest_;
      for (const Rival& rival : rivals_) {
        sum += rival.noticed.open(time) * rival.execution;
      }
      for (const Rival& rival : earlier_) {
        sum += rival.noticed.open(time) * rival.execution;
      }
      sum = core_.supply.time_for(sum + interrupts(time - nanoseconds{1}));
      if (sum <= time) {
        return time;
      }
      time = sum;
    }
  }

  [[nodiscard]] nanoseconds interrupts(nanoseconds window) const noexcept {
    nanoseconds sum{0};
    for (const Demand* const interrupt : core_.interrupts) {
      sum += interrupt->noticed().closed(window) * interrupt->execution;
    }
    return sum;
  }

  // The next release of the first link, or deadline that comes in time.
  std::optional<nanoseconds> next_change(nanoseconds at) {
    if (!effort_.spend(core_.links.size())) {
      return {};
    }
    nanoseconds next = own_.releases.time(own_.releases.closed(at));
    for (const auto* const rivals : {&rivals_, &earlier_, &later_}) {
      for (const Rival& rival : *rivals) {
        const nanoseconds change = rival.delay + rival.releases.time(rival.due(due(at)));
        next = std::min(next, change - due(nanoseconds{0}));
      }
    }
    return next;
  }

  // Up to the job that is looked at, of the first link's own subchain.
  nanoseconds own_work(std::int64_t jobs, nanoseconds time) {
    nanoseconds work = blocking_;
    for (const Rival& rival : earlier_) {
      const std::int64_t counted = jobs - rival.before;
      work +=
          (rival.most == always ? counted : std::min(counted, rival.due(time))) * rival.execution;
    }
    for (Rival& rival : later_) {
      rival.before = jobs;
      rival.most = std::max<std::int64_t>(0, rival.due(time) - jobs);
    }
    for (Rival& rival : rivals_) {
      rival.most = rival.due(time);
    }
    return work;
  }

  [[nodiscard]] nanoseconds interference(nanoseconds window) const noexcept {
    nanoseconds sum = interrupts(window);
    for (const auto* const rivals : {&rivals_, &later_}) {
      for (const Rival& rival : *rivals) {
        if (rival.most > 0) {
          const std::int64_t noticed =
              std::max<std::int64_t>(0, rival.noticed.closed(window) - rival.before);
          sum += std::min(noticed, rival.most) * rival.execution;
        }
      }
    }
    return sum;
  }

  template <class Done>
  std::optional<nanoseconds> fixpoint(nanoseconds work, nanoseconds from, Done done,
                                      bool starts = false) {
    for (nanoseconds time = from;;) {
      if (!effort_.spend(rivals_.size() + later_.size() + core_.interrupts.size() + 1)) {
        return {};
      }
      const nanoseconds sum = work + done(time);
      const nanoseconds next = starts ? core_.supply.start_after(sum) : core_.supply.time_for(sum);
      if (next <= time) {
        return time;
      }
      time = next;
    }
  }

  std::optional<nanoseconds> finish(nanoseconds at) {
    constexpr nanoseconds tick{1};
    const nanoseconds work = own_work(own_.releases.closed(at), due(at));
    if (preemptive_) {
      return fixpoint(work, work, [&](nanoseconds time) { return interference(time - tick); });
    }
    const nanoseconds own = core_.demand(last_).execution;
    const auto start = fixpoint(
        work - own, work - own, [&](nanoseconds time) { return interference(time); }, true);
    if (!start) {
      return {};
    }
    // Interrupts alone come in between.
    return fixpoint(work + interference(*start) - interrupts(*start), *start + own,
                    [&](nanoseconds time) { return interrupts(time - tick); });
  }

  static constexpr std::int64_t always = std::numeric_limits<std::int64_t>::max();

  const Subchains& core_;
  std::size_t last_;
  std::size_t first_;
  const Demand& own_;
  std::vector<std::size_t> path_;
  bool preemptive_;
  Effort& effort_;
  std::vector<bool> on_path_;
  std::vector<bool> behind_;
  std::vector<bool> within_;  // of those behind: may run before the last one has ended
  bool known_ = true;
  bool ordered_ = false;          // later messages come after the last one of the path
  std::vector<nanoseconds> due_;  // along the path: of its job, after the first release, at most
  nanoseconds horizon_{0};        // the latest of them
  std::vector<Rival> rivals_;     // other subchains
  std::vector<Rival> earlier_;    // its own, up to the job that is looked at
  std::vector<Rival> later_;      // its own, after that
  nanoseconds blocking_{0};
  nanoseconds longest_{0};  // blocking of any job
};

}  // namespace

Response subchain_by_deadline(const Subchains& core, std::size_t last,
                              std::span<const std::optional<nanoseconds>> latencies,
                              bool preemptive, Effort& effort) {
  const auto bounded = [](const Demand& demand) { return demand.releases.period.count() > 0; };
  const bool all =
      std::ranges::all_of(core.links,
                          [&](const SubchainLink& link) { return bounded(*link.demand); }) &&
      std::ranges::all_of(core.interrupts, [&](const Demand* demand) { return bounded(*demand); });
  if (!all) {
    return {};
  }
  return DeadlineTest{core, last, latencies, preemptive, effort}.run();
}

}  // namespace takt::analysis
