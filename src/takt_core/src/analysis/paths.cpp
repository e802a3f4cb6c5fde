// SPDX-License-Identifier: Apache-2.0
#include "paths.hpp"

#include <algorithm>
#include <utility>

#include "methods.hpp"
#include "overtaking.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

Bound later(const Bound& a, const Bound& b) {
  return a && b ? Bound{std::max(*a, *b)} : Bound{};
}

// False if the other one is longer.
bool shorten(Bound& bound, const Bound& other) {
  const bool shorter = other && (!bound || *other <= *bound);
  bound = shorter ? other : bound;
  return shorter;
}

// The streams that a path has come to, each with the one at which it began.
struct Followed {
  std::vector<std::size_t> heads = {};
  std::vector<std::size_t> ends = {};
  Bound longest = nanoseconds{0};  // of all messages
  Bound soonest = nanoseconds{0};  // of the first message of each job
  By by = By::test;                // what `soonest` follows from

  // `since`: from where the path began to the end of this stream.
  void add(std::size_t head, std::size_t end, const Bound& since, By whole) {
    const bool first = heads.empty() || heads.back() != head;
    heads.push_back(head);
    ends.push_back(end);
    longest = later(since, longest);
    if (first) {
      by = since && soonest && *since > *soonest ? whole : by;
      soonest = later(since, soonest);
    }
  }
};

Verdict judge(const Bound& bound, nanoseconds limit) {
  return bound && (limit.count() == 0 || *bound <= limit) ? Verdict::meets : Verdict::not_proved;
}

}  // namespace

Paths::Paths(const application::Application& application, const sched::CompiledStrategy& strategy,
             const sched::CompiledScenario& scenario, const ScenarioModel& model,
             const ScenarioBounds& bounds, std::vector<bool> varies)
    : application_(application),
      strategy_(strategy),
      scenario_(scenario),
      model_(model),
      bounds_(bounds),
      varies_(std::move(varies)),
      streams_(application.callbacks.size()) {
  for (std::size_t i = 0; i < model.streams().size(); ++i) {
    streams_[model.streams()[i].callback].push_back(i);
  }
}

Bound Paths::response(std::size_t callback) const {
  if (streams_[callback].empty()) {
    return {};
  }
  Bound longest = nanoseconds{0};
  for (const std::size_t stream : streams_[callback]) {
    const Bound& bound = bounds_.responses[stream].bound;
    longest = later(bound, longest);
  }
  return longest;
}

bool Paths::always_first(std::size_t first, std::size_t then) const {
  if (model_.test() != Test::fixed_priority || streams_[first].empty() || streams_[then].empty() ||
      (!varies_.empty() && varies_[first])) {
    return false;
  }
  const std::size_t a = streams_[first].front();
  const std::size_t b = streams_[then].front();
  // While it waits the other one may start.
  return !model_.demand(a).waits && model_.core_of(a) == model_.core_of(b) &&
         model_.demand(a).level > model_.demand(b).reach();
}

bool Paths::ends_first(std::size_t first, std::size_t then) const {
  if (streams_[first].empty() || streams_[then].empty() || model_.test() == Test::schedule_graph ||
      is_of_rclcpp(model_.test()) || model_.test() == Test::none ||
      (!varies_.empty() && varies_[first])) {
    return false;
  }
  // An early job is due before its deadline.
  if (model_.test() != Test::fixed_priority &&
      std::ranges::any_of(streams_[then],
                          [&](std::size_t i) { return model_.streams()[i].early; })) {
    return false;
  }
  const std::size_t a = streams_[first].front();
  const std::size_t b = streams_[then].front();
  const sched::Level one = model_.demand(a).level;
  const sched::Level other = model_.demand(b).reach();
  // Levels are priorities, or minus the relative deadlines; equal ones go by release, then by task,
  // unless one of them waits and has a thread of its own.
  const bool in_order = first < then && !model_.demand(b).waits && other == model_.demand(b).level;
  return !model_.demand(a).waits && model_.core_of(a) == model_.core_of(b) &&
         (one > other || (one == other && in_order));
}

Bound Paths::noticed(std::size_t callback) const {
  nanoseconds latest = lag(callback);
  for (const std::size_t stream : streams_[callback]) {
    const Demand& demand = model_.demand(stream);
    if (demand.releases.period.count() == 0) {
      return {};
    }
    // An early release may be asked for late.
    latest = std::max(latest, demand.lag);
  }
  return latest;
}

Bound Paths::latency(std::size_t stream) const {
  return bounds_.latencies.empty() ? bounds_.responses[stream].bound
                                   : bounds_.latencies[stream].bound;
}

void Paths::hold(Walk& walk) const {
  if (walk.overtaken) {
    // What comes last may be old. But it comes no earlier than what was released a stretch before,
    // or up to a gap earlier, and was released at most a stretch before it comes (eq. 48).
    const bool known = walk.head != walk.received && !may_drop(walk.head);
    const Bound more = known ? sum(gap(walk.head), walk.stretch) : Bound{};
    walk.age = sum(walk.age, more);
    walk.behind = sum(walk.behind, more);
    walk.held = true;
    return;
  }
  if (!std::exchange(walk.held, true)) {
    const Bound next = walk.head == walk.received ? Bound{nanoseconds{0}} : gap(walk.head);
    walk.age = may_drop(walk.head) ? Bound{} : sum(walk.age, next);
  }
}

bool Paths::is_released_by_others(std::size_t callback, std::size_t writer) const {
  return std::ranges::any_of(streams_[callback], [&](std::size_t i) {
    const std::size_t parent = model_.streams()[i].parent;
    return parent == nobody || model_.streams()[parent].callback != writer;
  });
}

void Paths::begin_stretch(Walk& walk, std::size_t head) const {
  walk.head = head;
  walk.lost = walk.overtaken = false;
  walk.stretch = walk.soonest = response(head);
  walk.called = nanoseconds{0};
  walk.heads = walk.ends = streams_[head];
}

void Paths::lengthen(Walk& walk, std::size_t callback) const {
  if (may_drop(callback)) {
    walk.stretch = walk.soonest = {};
    walk.ends.clear();
    walk.lost = true;
    return;
  }
  walk.stretch = walk.lost ? Bound{} : sum(walk.stretch, response(callback));
  walk.soonest = walk.lost ? Bound{} : sum(walk.soonest, response(callback));
  Followed followed;
  for (std::size_t i = 0; i < walk.ends.size() && !bounds_.latencies.empty(); ++i) {
    // Several where a job publishes several messages.
    for (const std::size_t next : streams_[callback]) {
      if (model_.streams()[next].parent == walk.ends[i]) {
        const Response& whole = bounds_.latencies[next];
        followed.add(walk.heads[i], next,
                     sum(walk.called, sum(whole.bound, -model_.offset(walk.heads[i]))), whole.by);
      }
    }
  }
  if (followed.ends.size() != streams_[callback].size()) {
    followed.ends.clear();
  }
  walk.heads = std::move(followed.heads);
  walk.ends = std::move(followed.ends);
  if (walk.lost || walk.ends.empty()) {
    return;
  }
  shorten(walk.stretch, followed.longest);
  if (shorten(walk.soonest, followed.soonest) && followed.by != By::test) {
    walk.by = followed.by;
  }
}

void Paths::sample(Walk& walk, std::size_t callback) const {
  const bool is_only_head =
      walk.before == walk.head && strategy_.tasks()[callback].kind == TaskKind::timer;
  const Bound passed =
      is_only_head && ends_first(walk.head, callback) ? noticed(walk.head) : walk.soonest;
  // Data is used until the next job of the head has come, which is its own however late that was
  // asked for.
  const bool at_once = is_only_head && !walk.overtaken && always_first(walk.head, callback);
  const Bound used = at_once ? Bound{lag(walk.head)} : walk.stretch;
  walk.latency = may_drop(callback) ? Bound{} : sum(walk.latency, sum(passed, gap(callback, true)));
  hold(walk);
  walk.age = sum(walk.age, used);
  walk.held = false;
  walk.direct = false;
  begin_stretch(walk, callback);
}

// The next callback of a chain: either a message of the one before releases it, or it reads when
// its own time has come, and a new stretch begins. False when it does not read what that one
// writes.
bool Paths::extend(Walk& walk, std::size_t callback) const {
  const sched::Task& task = strategy_.tasks()[callback];
  const auto& writes = strategy_.tasks()[walk.before].writes;
  const auto is_written = [&](const sched::Read& read) { return contains(writes, read.topic); };
  walk.direct = walk.direct && streams_[walk.before].size() == 1;
  if (calls(walk.before, callback)) {
    follow_call(walk, callback);
    return true;
  }
  const bool overtakes = application_.callbacks[callback].reentrant;
  if (model_.join_of(walk.before) != nobody) {
    const bool passes = pass_join(walk, callback);
    walk.overtaken = walk.overtaken || overtakes;
    return passes;
  }
  if (task.kind == TaskKind::message && contains(writes, task.trigger)) {
    walk.overtaken = walk.overtaken || overtakes;
    lengthen(walk, callback);
    if (is_released_by_others(callback, walk.before)) {
      hold(walk);  // its jobs for them go on with what it has
      walk.age = overtakes ? Bound{} : walk.age;
    }
  } else if (std::ranges::any_of(task.reads, is_written)) {
    if (std::ranges::none_of(task.reads, [&](const sched::Read& read) {
          return is_written(read) && is_read(read.topic, walk.before, callback);
        })) {
      walk.overwritten = std::ranges::find_if(task.reads, is_written)->topic;
    }
    sample(walk, callback);
  } else {
    return false;
  }
  walk.before = callback;
  return true;
}

void Paths::explain_without_bound(const application::Chain& chain, ChainReport& report) const {
  if (const std::string loss = loss_on(chain); !loss.empty()) {
    report.bound_by = loss;
    return;
  }
  const auto unbounded = std::ranges::find_if(chain.callbacks, [&](const std::string& name) {
    return !response(*strategy_.find_task(name));
  });
  if (unbounded != chain.callbacks.end()) {
    report.bound_by = "'" + *unbounded + "' has no bound";
  }
}

void Paths::leave_overtaken(const application::Chain& chain, const Walk& walk,
                            ChainReport& report) const {
  if (replaces_newer(application_, chain)) {
    const bool known = walk.join == nobody && !chain.published && !chain.overtaken;
    report.reaction = known ? sum(report.reaction, walk.behind) : Bound{};
  }
}

ChainReport Paths::chain(const application::Chain& chain) const {
  ChainReport report{.name = chain.name,
                     .callbacks = chain.described.empty() ? chain.callbacks : chain.described};
  report.bound_by = methods::chain;
  if (chain.max_latency.count() > 0) {
    report.max_latency = chain.max_latency;
  }
  const std::size_t first = *strategy_.find_task(chain.callbacks.front());
  const bool received = chain.goes_on && strategy_.tasks()[first].kind == TaskKind::message;
  Walk walk{.before = first, .received = received ? first : nobody, .direct = !chain.goes_on};
  begin_stretch(walk, first);
  walk.overtaken = (received && chain.overtaken) || application_.callbacks[first].reentrant;
  for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
    const std::string& name = chain.callbacks[i];
    if (!extend(walk, *strategy_.find_task(name))) {
      report.bound_by = "'" + name + "' reads nothing that '" + chain.callbacks[i - 1] + "' writes";
      return report;
    }
  }
  if (chain.published) {
    walk.direct = walk.direct && streams_[walk.before].size() == 1;
    walk.join = model_.join_of(walk.before);
    walk.stretch = sum(walk.stretch, wait_in_join(walk.before, walk.direct));
    walk.soonest = walk.stretch;
  }
  if (!walk.overwritten.empty()) {
    report.bound_by = "other writers of topic '" + walk.overwritten +
                      "' may overwrite its data before it is read: give the topic more depth";
    return report;
  }
  if (walk.join != nobody) {
    report.bound_by = methods::join;
  } else if (walk.by != By::test) {
    const std::vector<std::size_t>& last = streams_[walk.before];  // none: it never runs
    const Test test = last.empty() ? model_.test() : model_.test_on(model_.core_of(last.front()));
    report.bound_by = chain_method(test, walk.by);
  }
  if (walk.waits || !chain.described.empty()) {
    report.bound_by += methods::calls;
  }
  report.latency = sum(walk.latency, walk.soonest);
  report.age = sum(walk.age, walk.stretch);
  report.reaction = may_drop(first) ? Bound{} : sum(report.latency, gap(first));
  if (walk.join != nobody) {  // data may be replaced, but each publication has newer data
    std::vector<bool> entered(model_.joins().size());
    const std::optional<Gap> next = gap_of_publications(walk.join, entered);
    report.reaction = walk.direct && next ? sum(report.latency, next->between) : Bound{};
    take_busy_path(chain, report);
  }
  leave_overtaken(chain, walk, report);
  if (!report.latency) {
    explain_without_bound(chain, report);
  }
  report.verdict = judge(report.latency, chain.max_latency);
  return report;
}

}  // namespace takt::analysis
