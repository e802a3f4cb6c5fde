// SPDX-License-Identifier: Apache-2.0
#include "withheld.hpp"

#include <algorithm>

#include "takt/os/saturating.hpp"

namespace takt::sim {
namespace {

// Far behind those of tasks.
constexpr std::uint64_t first_stream = std::uint64_t{1} << 33U;
constexpr std::uint64_t streams_of_core = 4096;

// A periodic resource that provides no less.
application::Supply as_periodic(application::Supply supply) {
  if (supply.period.count() > 0) {
    return supply;
  }
  constexpr auto whole = static_cast<UInt128>(application::Supply::whole);
  const auto rate = static_cast<UInt128>(supply.rate);
  const nanoseconds gap = supply.delay / 2;
  if (rate == whole || gap.count() == 0) {
    return {.budget = nanoseconds{0}, .period = nanoseconds{0}};  // once, or never
  }
  const auto gaps = static_cast<UInt128>(gap.count());
  const UInt128 budget = (rate * gaps + (whole - rate) - 1) / (whole - rate);
  supply.budget = nanoseconds{static_cast<std::int64_t>(budget)};
  supply.period = supply.budget + gap;
  return supply;
}

}  // namespace

Withheld::Withheld(const application::Core& core, bool drawn, std::uint64_t seed) : drawn_(drawn) {
  std::uint64_t stream = first_stream + streams_of_core * static_cast<std::uint64_t>(core.cpu);
  if (core.supply) {
    const application::Supply supply = as_periodic(*core.supply);
    if (supply.period > supply.budget) {
      add({.period = supply.period,
           .early = supply.budget,
           .length = supply.period - supply.budget,
           .late = supply.budget},
          seed, stream);
    } else if (core.supply->delay.count() > 0 && core.supply->rate == application::Supply::whole) {
      add({.length = core.supply->delay, .late = core.supply->delay}, seed, stream);
    }
  }
  for (const application::Interrupts& source : core.interrupts) {
    const nanoseconds jitter = (source.burst - 1) * source.period;
    add({.period = source.period, .early = jitter, .length = source.duration, .late = jitter}, seed,
        ++stream);
  }
  find_next();
}

// A phase, if drawn.
void Withheld::add(Source source, std::uint64_t seed, std::uint64_t stream) {
  source.draws = RandomStream{seed, stream};
  if (drawn_) {
    source.early = -uniform(source.draws.at(0), source.period);
  }
  go_on(source);
  sources_.push_back(source);
}

void Withheld::go_on(Source& source) const noexcept {
  if (source.period.count() == 0 && source.index > 0) {
    source.next = TimePoint::max();  // once
    return;
  }
  nanoseconds at = os::mul_sat(source.period, source.index) - source.early;
  ++source.index;
  if (drawn_) {
    at = os::add_sat(
        at, uniform(source.draws.at(static_cast<std::uint64_t>(source.index)), source.late));
  }
  source.next = std::max(source.next, TimePoint{at});
}

nanoseconds Withheld::take() noexcept {
  const auto found = std::ranges::min_element(sources_, {}, &Source::next);
  const nanoseconds length = found->length;
  go_on(*found);
  find_next();
  return length;
}

void Withheld::find_next() noexcept {
  next_ = TimePoint::max();
  for (const Source& source : sources_) {
    next_ = std::min(next_, source.next);
  }
}

}  // namespace takt::sim
