// SPDX-License-Identifier: Apache-2.0
#include "busy_core.hpp"

#include <algorithm>
#include <ranges>

namespace takt::analysis {
namespace {

constexpr nanoseconds longest_looked_at{1'000'000'000'000'000};  // 11 days

// Whether publications of a join release it, all of whose callbacks are on its core.
bool is_joined_here(const ScenarioModel& model, const ChainNet& net, std::size_t stream) {
  const Stream& released = model.streams()[stream];
  return released.join != nobody && net.links[stream].demand->lag.count() == 0 &&
         std::ranges::all_of(
             model.joins()[released.join].streams | std::views::join,
             [&](std::size_t input) { return net.links[input].core == net.links[stream].core; });
}

// By stream: the lowest level of the jobs on the core that lead to it, its own included.
std::map<std::size_t, sched::Level> lowest_before(const ScenarioModel& model, const ChainNet& net,
                                                  const ChainCore& core) {
  std::map<std::size_t, sched::Level> lowest;
  for (const std::size_t stream : core.links) {
    lowest[stream] = net.links[stream].demand->level;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [stream, level] : lowest) {
      sched::Level least = level;
      if (net.links[stream].joined) {
        least = std::min(least, lowest.at(net.links[stream].before));
      } else if (is_joined_here(model, net, stream)) {
        for (const std::size_t input :
             model.joins()[model.streams()[stream].join].streams | std::views::join) {
          least = std::min(least, lowest.at(input));
        }
      }
      changed = changed || least < level;
      level = least;
    }
  }
  return lowest;
}

}  // namespace

std::map<sched::Level, sched::Level> BusyCore::closed_floors(const ScenarioModel& model,
                                                             const ChainNet& net,
                                                             std::size_t core) {
  std::map<sched::Level, sched::Level> floors;
  for (const auto& [stream, lowest] : lowest_before(model, net, net.cores[core])) {
    const auto [floor, first] = floors.try_emplace(net.links[stream].demand->level, lowest);
    floor->second = std::min(floor->second, lowest);
  }
  sched::Level lowest = interrupt_level;
  for (auto& [level, floor] : floors | std::views::reverse) {  // of all jobs from the level on
    lowest = floor = std::min(floor, lowest);
  }
  for (auto& [level, floor] : floors) {  // those below the level are closed already
    floor = floor < level ? floors.at(floor) : floor;
  }
  return floors;
}

BusyCore::BusyCore(const ScenarioModel& model, const ChainNet& net, std::size_t core,
                   std::optional<sched::Level> floor)
    : model_(model), core_(net.cores[core]), place_(net.links.size(), nobody) {
  // With overheads it may begin in the moment in which its release is noticed.
  const nanoseconds begun =
      net.release_overhead.count() > 0 ? nanoseconds{0} : core_.supply.head_start();
  for (const std::size_t stream : core_.links) {
    const ChainLink& link = net.links[stream];
    Entry entry{.stream = stream, .work = link.demand->execution + net.release_overhead};
    if (floor && link.demand->level < *floor) {
      if (link.demand->ceiling >= *floor && link.demand->execution.count() > 0) {
        blocking_ = std::max(blocking_, link.demand->execution - begun);
      }
      entry.work = net.release_overhead;
    } else if (link.joined) {
      entry.source = Source::link;
      entry.before = place_[link.before];
    } else if (is_joined_here(model, net, stream)) {
      const Stream& released = model.streams()[stream];
      entry.source = released.part == 0 ? Source::join : Source::counted;
      entry.before = released.join;
    }
    if (entry.work.count() > 0 || !floor || link.demand->level >= *floor) {
      place_[stream] = entries_.size();
      entries_.push_back(entry);
    }
  }
}

// Between two publications each callback of the join ends a job, so there is at most one more than
// jobs of any of them: with messages that were `stored` before. The callback that completes the
// first set has a job for each. Nothing if of no callback all entries are before `known`.
template <class Number>
std::optional<Number> BusyCore::publications(std::size_t join, const std::vector<Number>& jobs,
                                             std::size_t known, Number stored) const {
  std::optional<Number> least;
  Number most{0};
  bool complete = true;
  for (const std::vector<std::size_t>& streams : model_.joins()[join].streams) {
    if (!std::ranges::all_of(streams, [&](std::size_t one) { return place_[one] < known; })) {
      complete = false;
      continue;
    }
    Number ended{0};
    for (const std::size_t stream : streams) {
      ended += jobs[place_[stream]];
    }
    most = std::max(most, ended);
    least = std::min(least.value_or(ended + stored), ended + stored);
  }
  return least && complete ? std::min(*least, most) : least;
}

// By entry: how many jobs there are, where `outside` gives those of a stream from outside.
template <class Number, class Outside>
bool BusyCore::count(std::vector<Number>& jobs, Outside outside, Number stored) const {
  jobs.assign(entries_.size(), Number{0});
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.source == Source::outside) {
      jobs[i] = outside(model_.demand(entry.stream).noticed());
    } else if (entry.source == Source::link) {
      jobs[i] = jobs[entry.before];
    } else if (entry.source == Source::join) {
      const std::optional<Number> published = publications(entry.before, jobs, i, stored);
      if (!published) {
        return false;
      }
      jobs[i] = *published;
    }
  }
  return true;
}

// Of the core's time; nothing if something is released without a bound.
std::optional<double> BusyCore::share() const {
  std::vector<double> rates;
  bool bounded = std::ranges::all_of(core_.interrupts, [](const Demand& interrupt) {
    return interrupt.releases.period.count() > 0;
  });
  const auto rate = [&](const Arrivals& releases) {
    bounded = bounded && releases.period.count() > 0;
    return bounded ? 1 / static_cast<double>(releases.period.count()) : 0.0;
  };
  if (!count(rates, rate, 0.0) || !bounded) {
    return {};
  }
  double result = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    result += rates[i] * static_cast<double>(entries_[i].work.count());
  }
  for (const Demand& interrupt : core_.interrupts) {
    result += utilization(interrupt);
  }
  return result;
}

std::vector<std::int64_t> BusyCore::count_jobs(nanoseconds busy) const {
  std::vector<std::int64_t> result;
  count(result, [busy](const Arrivals& noticed) { return noticed.open(busy); }, std::int64_t{1});
  return result;
}

std::map<std::size_t, std::int64_t> BusyCore::jobs(nanoseconds busy) const {
  const std::vector<std::int64_t> jobs = count_jobs(busy);
  std::map<std::size_t, std::int64_t> result;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    result[entries_[i].stream] = jobs[i];
  }
  return result;
}

std::optional<nanoseconds> BusyCore::longest(Effort& effort) const {
  const std::optional<double> share = this->share();
  // Of several threads one runs as long as any job has not ended.
  const double one_thread = core_.supply.rate() - static_cast<double>(core_.supply.threads() - 1);
  if (!share || *share > one_thread - 1e-9) {
    return {};
  }
  for (nanoseconds time{1}; time < longest_looked_at;) {
    if (!effort.spend(entries_.size() + core_.interrupts.size())) {
      return {};
    }
    const std::vector<std::int64_t> jobs = count_jobs(time);
    nanoseconds work = blocking_;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      work += jobs[i] * entries_[i].work;
    }
    for (const Demand& interrupt : core_.interrupts) {
      work += interrupt.noticed().open(time) * interrupt.execution;
    }
    work = core_.supply.time_for(work);
    if (work <= time) {
      return time;
    }
    time = work;
  }
  return {};
}

}  // namespace takt::analysis
