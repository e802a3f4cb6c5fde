// SPDX-License-Identifier: Apache-2.0
#include "busy_core.hpp"

#include <algorithm>
#include <ranges>

namespace takt::analysis {
namespace {

constexpr nanoseconds longest_looked_at{1'000'000'000'000'000};  // 11 days

}  // namespace

BusyCore::BusyCore(const ScenarioModel& model, const ChainNet& net, std::size_t core)
    : model_(model), core_(net.cores[core]), place_(net.links.size(), nobody) {
  for (const std::size_t stream : core_.links) {
    const ChainLink& link = net.links[stream];
    const Stream& released = model.streams()[stream];
    Entry entry{.stream = stream, .work = link.demand->execution + net.release_overhead};
    if (link.joined) {
      entry.source = Source::link;
      entry.before = place_[link.before];
    } else if (released.join != nobody && link.demand->lag.count() == 0 &&
               std::ranges::all_of(
                   model.joins()[released.join].streams | std::views::join,
                   [&](std::size_t input) { return net.links[input].core == core; })) {
      entry.source = released.part == 0 ? Source::join : Source::counted;
      entry.before = released.join;
    }
    place_[stream] = entries_.size();
    entries_.push_back(entry);
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

std::vector<std::int64_t> BusyCore::jobs(nanoseconds busy) const {
  std::vector<std::int64_t> result;
  count(result, [busy](const Arrivals& noticed) { return noticed.open(busy); }, std::int64_t{1});
  return result;
}

std::optional<nanoseconds> BusyCore::longest(Effort& effort) const {
  const std::optional<double> share = this->share();
  if (!share || *share > core_.supply.rate() - 1e-9) {
    return {};
  }
  for (nanoseconds time{1}; time < longest_looked_at;) {
    if (!effort.spend(entries_.size() + core_.interrupts.size())) {
      return {};
    }
    const std::vector<std::int64_t> jobs = this->jobs(time);
    nanoseconds work{0};
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
