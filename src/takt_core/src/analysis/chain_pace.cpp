// SPDX-License-Identifier: Apache-2.0
#include "chain_pace.hpp"

#include <algorithm>
#include <vector>

namespace takt::analysis {
namespace {

// What a job of the instance and one of the path are to each other.
struct Encounter {
  bool together = false;  // they have the same core. The instance's may run before the path's has
                          // ended,
  bool delays = false;    // even if it is released later,
  bool precedes = false;  // only if it was released before,
  bool blocks = false;    // or had started before that,
  bool preempts = false;  // even if the path's has started; or
  bool waits = false;     // it may wait while the path's computes,
  bool yields = false;    // although it has started
  bool first = false;     // where both are pending and the path's has not started, it runs first
};

Encounter encounter(const ChainNet& net, std::size_t own, std::size_t other) {
  const ChainCore& core = net.cores[net.links[own].core];
  const Demand& mine = *net.links[own].demand;
  const Demand& its = *net.links[other].demand;
  if (net.links[own].core != net.links[other].core) {
    return {};
  }
  if (core.by_deadline) {
    return {.together = true,
            .delays = its.deadline <= mine.deadline,
            .precedes = true,
            .preempts = core.preemptive && its.deadline < mine.deadline,
            .waits = true,
            .yields = core.preemptive && mine.deadline < its.deadline};
  }
  const bool above = its.level > std::max(mine.level, mine.ceiling);
  return {.together = true,
          .delays = its.level >= mine.level,
          .blocks = its.ceiling >= mine.level,
          .preempts = above,
          .waits = !above,
          .yields = mine.level > std::max(its.level, its.ceiling),
          .first = its.level > mine.level};
}

class Pace {
 public:
  // Of the instance's links each releases the next one.
  Pace(const ChainNet& net, std::span<const std::size_t> own, std::span<const std::size_t> other,
       Effort& effort)
      : net_(net), own_(own), other_(other), effort_(effort) {}

  // The most by which the path ends later than if all of its jobs took their longest, and nothing
  // delayed them.
  std::optional<nanoseconds> most() {
    Entries here(other_.size());
    Entries next(other_.size());
    for (std::size_t v = 0; v < own_.size(); ++v) {
      next = Entries{other_.size()};
      for (std::size_t k = 0; k < other_.size(); ++k) {
        begin(v, k, next);
        if (here.later[k]) {
          follow({.own = v, .other = k, .later = true, .whole = true, .delay = *here.later[k]},
                 next);
        }
        if (here.whole[k]) {
          follow({.own = v, .other = k, .whole = true, .delay = *here.whole[k]}, next);
        }
        if (here.begun[k]) {
          follow({.own = v, .other = k, .delay = *here.begun[k]}, next);
        }
      }
      std::swap(here, next);
    }
    return known_ ? std::optional{most_} : std::nullopt;
  }

 private:
  // So far, less what the path has computed since the first one. What the instance computes
  // elsewhere is in `advanced` at once, in `waited` never: the path has not waited for it.
  struct Sum {
    nanoseconds advanced{0};
    nanoseconds waited{0};
  };
  using Delay = std::optional<Sum>;  // nothing: it cannot be

  // By the instance's job that is pending when a job of the path is released.
  struct Entries {
    explicit Entries(std::size_t jobs) : later(jobs), whole(jobs), begun(jobs) {}
    std::vector<Delay> later;  // it was released not before that
    std::vector<Delay> whole;  // it may have been, but has not started
    std::vector<Delay> begun;  // it may have

    [[nodiscard]] std::vector<Delay>& of(bool not_started) { return not_started ? whole : begun; }
  };

  // Both jobs are pending.
  struct Point {
    std::size_t own = 0;
    std::size_t other = 0;
    bool later = false;    // the instance's was not released before the path's
    bool whole = false;    // it had not started before that
    bool started = false;  // the path's has
    bool last = false;     // nothing is known of how much of the path's is left
    bool meets = true;     // the path's has surely not started when both are pending on one core
    Sum delay{};
    nanoseconds passed{0};  // of the path's job, at least
  };

  [[nodiscard]] Encounter at(const Point& point) const {
    return encounter(net_, own_[point.own], other_[point.other]);
  }

  [[nodiscard]] nanoseconds own_execution(std::size_t own) const {
    return net_.links[own_[own]].demand->execution;
  }

  static void raise(Delay& delay, Sum to, nanoseconds less) {
    to.advanced -= less;
    const Sum had = delay.value_or(to);
    delay = {.advanced = std::max(had.advanced, to.advanced),
             .waited = std::max(had.waited, to.waited)};
  }

  // The path waits for the instance for the first time: before its job starts, or while some of it
  // is left, perhaps next to nothing.
  void begin(std::size_t own, std::size_t other, Entries& next) {
    const Encounter met = at({.own = own, .other = other});
    if (!met.together ||
        !(met.delays || met.precedes || (met.blocks && may_have_begun(own, other)))) {
      return;
    }
    const nanoseconds first = net_.links[other_[other]].demand->execution;
    const Sum delay{.advanced = first, .waited = first};
    most_ = std::max(most_, first);
    follow({.own = own, .other = other + 1, .later = true, .whole = true, .delay = delay}, next);
    if (met.preempts) {
      follow({.own = own,
              .other = other + 1,
              .later = true,
              .whole = true,
              .started = true,
              .last = true,
              .meets = false,
              .delay = delay},
             next);
    }
  }

  // The path's job ends while the instance's is pending: at the moment at which that one was
  // released or the path's was, or later. Then the path's job has computed while the other one
  // waited, or did elsewhere what counts as delay until here.
  void end_own(const Point& point, Entries& next) const {
    const Encounter met = at(point);
    const nanoseconds all = own_execution(point.own);
    const nanoseconds less = point.last ? nanoseconds{0} : all;
    raise(point.later ? next.later[point.other] : next.of(point.whole)[point.other], point.delay,
          less);
    if (met.together && met.waits) {
      raise(next.of(point.whole || !met.yields)[point.other], point.delay,
            point.last ? nanoseconds{0} : point.passed);
    }
    if (!met.together && point.passed < all) {
      raise(next.begun[point.other], point.delay, less);
    }
  }

  // Whether the instance's job may have started when the path's is released: not if the path's job
  // before computed on the same core until then, and preempts it not.
  [[nodiscard]] bool may_have_begun(std::size_t own, std::size_t other) const {
    if (own == 0) {
      return true;
    }
    const Encounter before = at({.own = own - 1, .other = other});
    return !before.together || before.yields;
  }

  // The path waits for the instance's job. What its own has computed counts as advanced until its
  // end: nothing, unless this one preempts it.
  void wait(Point& point, nanoseconds execution, bool preempts) {
    Sum& delay = point.delay;
    const nanoseconds computed = preempts ? own_execution(point.own) : nanoseconds{0};
    const nanoseconds before = std::min(delay.advanced, delay.waited);
    delay.advanced = std::min(delay.advanced, delay.waited + computed) + execution;
    delay.waited = before + execution;
    most_ = std::max(most_, delay.waited);
    point.meets = point.meets || !preempts;
  }

  // The instance's jobs from here on, until the path's job has ended.
  void follow(Point point, Entries& next) {
    const nanoseconds all = own_execution(point.own);
    for (; point.other < other_.size(); ++point.other, point.later = point.whole = true) {
      if (!effort_.spend(1)) {
        known_ = false;
        return;
      }
      const Encounter met = at(point);
      if (!met.first || !point.meets) {
        end_own(point, next);
      }
      if (point.passed.count() > 0 && point.passed >= all) {
        return;  // nothing of the path's job is left
      }
      const bool may_run =
          met.delays || (met.precedes && !point.later) || (met.blocks && !point.whole);
      if (met.together && (!may_run || (point.started && !met.preempts))) {
        return;  // it comes later
      }
      const ChainLink& job = net_.links[other_[point.other]];
      if (met.together) {
        wait(point, job.demand->execution, met.preempts);
        continue;
      }
      point.meets = false;
      point.delay.advanced += job.demand->execution;
      point.passed += point.whole ? job.message_after : nanoseconds{0};
      point.started = point.started || !point.whole || job.message_after.count() > 0;
      if (point.passed > all) {
        return;  // the path's job has ended before
      }
    }
  }

  const ChainNet& net_;
  std::span<const std::size_t> own_;
  std::span<const std::size_t> other_;
  Effort& effort_;
  nanoseconds most_{0};
  bool known_ = true;
};

// Whether all instances of this root have ended before the next one is released.
bool ends_before_the_next(const ChainNet& net, std::size_t root) {
  const Arrivals& releases = net.links[root].demand->releases;
  return std::ranges::all_of(net.instances[root], [&](std::size_t i) {
    const auto& latency = net.latencies[i];
    return latency && releases.closed(*latency - nanoseconds{1}) == 1;
  });
}

// Whether each job of these links is released when the one before it ends, and then at once.
bool is_a_line(const ChainNet& net, std::span<const std::size_t> links, bool noticed_at_once) {
  for (std::size_t k = 0; k < links.size(); ++k) {
    const ChainLink& link = net.links[links[k]];
    const bool late = link.demand->lag.count() > 0 && (k > 0 || noticed_at_once);
    if (link.overlaps || late || (k > 0 && link.before != links[k - 1])) {
      return false;
    }
  }
  return true;
}

// Whether on the cores of both nothing else computes while the path is on its way, so that of the
// two one always does.
bool are_among_themselves(const ChainNet& net, std::span<const std::size_t> path,
                          std::size_t root) {
  std::vector<bool> belongs(net.links.size(), false);
  for (const std::size_t i : path) {
    belongs[i] = true;
  }
  for (std::size_t i = path.back() + 1; i < net.links.size(); ++i) {  // what comes after the path
    const std::size_t before = net.links[i].before;
    belongs[i] = belongs[i] || (before != nobody && before >= path.back() && belongs[before]);
  }
  for (const std::size_t i : net.instances[root]) {
    belongs[i] = true;
  }
  const auto is_theirs = [&](std::size_t i) {
    const ChainCore& core = net.cores[net.links[i].core];
    return core.usable && (core.by_level || core.by_deadline) && core.interrupts.empty() &&
           core.supply.whole() &&
           std::ranges::all_of(core.links, [&](std::size_t link) { return belongs[link]; });
  };
  return std::ranges::all_of(path, is_theirs) &&
         std::ranges::all_of(net.instances[root], is_theirs);
}

}  // namespace

std::optional<nanoseconds> most_at_its_pace(const ChainNet& net, std::span<const std::size_t> path,
                                            std::size_t root, Effort& effort) {
  const std::vector<std::size_t>& others = net.instances[root];
  if (net.release_overhead.count() > 0 || !is_a_line(net, path, true) ||
      !is_a_line(net, others, false) || !ends_before_the_next(net, root) ||
      !ends_before_the_next(net, path.front()) || !are_among_themselves(net, path, root)) {
    return {};
  }
  Effort part{.steps = effort.steps / 4};  // a bound without it is still one
  const std::int64_t given = part.steps;
  const auto result = Pace{net, path, others, part}.most();
  effort.steps -= given - std::max<std::int64_t>(0, part.steps);
  return result;
}

}  // namespace takt::analysis
