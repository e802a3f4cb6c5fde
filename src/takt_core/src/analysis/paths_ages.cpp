// SPDX-License-Identifier: Apache-2.0
//
// How old data is when it is read (docs/reference/analysis.md, eq. 11, 12 and 24).
#include <algorithm>

#include "../sched/data_age.hpp"
#include "methods.hpp"
#include "paths.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;

}  // namespace

bool Paths::kept_by_early_releases(const sched::AgeConstraint& constraint) const {
  if (!constraint.needs_early_release() || !constraint.source) {
    return false;
  }
  const std::size_t source = *constraint.source;
  const std::size_t reader = constraint.reader;
  // One timer that writes the topic itself, and whose jobs are done before a reader starts that is
  // released later. A reader that is itself released early comes before it has asked.
  if (std::ranges::any_of(streams_[reader],
                          [&](std::size_t i) { return model_.streams()[i].early; }) ||
      strategy_.tasks()[reader].kind != TaskKind::timer || model_.test() != Test::fixed_priority ||
      streams_[source].empty() || streams_[reader].empty() || lag(source).count() > 0 ||
      !contains(strategy_.tasks()[source].writes, constraint.topic)) {
    return false;
  }
  const application::Topic* topic = application_.find_topic(constraint.topic);
  std::size_t writers = topic != nullptr && topic->external ? 1 : 0;
  for (const sched::Task& task : strategy_.tasks()) {
    writers += contains(task.writes, constraint.topic) ? 1U : 0U;
  }
  const Demand& one = model_.demand(streams_[source].front());
  const Demand& other = model_.demand(streams_[reader].front());
  // Equal priorities go by release.
  const bool before = one.reach() > other.reach() ||
                      (one.reach() == other.reach() && constraint.youngest.count() > 0);
  return writers == 1 && !one.waits && !other.waits && before &&
         model_.core_of(streams_[source].front()) == model_.core_of(streams_[reader].front());
}

// From the sampling to the end of the stream's job, at most; none: no bound.
Bound Paths::way(std::size_t stream) const {
  const std::size_t source = model_.streams()[model_.root_of(stream)].callback;
  return strategy_.tasks()[source].kind == TaskKind::timer && !may_drop_upstream(stream)
             ? latency(stream)
             : Bound{};
}

// How old data may be when a reader is released whose source is released early for it. Neither the
// executor nor its decisions know the jitter of callbacks (sched::Task::jitter) unless they are
// told, so both starts count that they may assume.
nanoseconds Paths::longest_use(const sched::AgeConstraint& constraint) const {
  std::vector<sched::Task> tasks{strategy_.tasks().begin(), strategy_.tasks().end()};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].parameters = scenario_.parameters(static_cast<sched::TaskIndex>(i));
    tasks[i].jitter = nanoseconds{0};
  }
  std::vector<sched::AgeConstraint> without_jitter{constraint};
  sched::find_latest_starts(tasks, scenario_.policy(), without_jitter);
  return std::max(constraint.longest_use(), without_jitter.front().longest_use());
}

// What early releases of the source keep the age to; none where they do not.
Bound Paths::kept_age(const sched::AgeConstraint& constraint) const {
  const auto& parameters = scenario_.parameters(constraint.reader);
  const nanoseconds deadline = sched::relative_deadline(parameters);
  const Bound end = response(constraint.reader);
  if (!kept_by_early_releases(constraint) || !end || deadline.count() == 0 || *end > deadline) {
    return {};
  }
  const nanoseconds start = std::max(nanoseconds{0}, *end - parameters.expected_execution);
  return start + longest_use(constraint);
}

// Of the samples that come by this stream: each is used until the next one has come the same way.
Bound Paths::age_by(std::size_t stream, sched::TaskIndex reader, std::string& bound_by) const {
  const std::size_t writer = model_.streams()[stream].callback;
  const std::size_t root = model_.root_of(stream);
  const std::size_t own = model_.join_of(writer);
  const std::size_t join = own == nobody ? model_.streams()[root].join : own;
  if (join != nobody) {
    const JoinedAge found = joined_age(join, own == nobody ? stream : nobody);
    bound_by = found.by;
    return found.age;
  }
  Bound until = way(stream);
  if (root == stream && until && always_first(writer, reader)) {
    until = lag(writer);
    bound_by = methods::age_in_order;
  }
  return sum(until, gap(model_.streams()[root].callback));
}

AgeReport Paths::age(const sched::AgeConstraint& constraint) const {
  AgeReport report{.callback = strategy_.tasks()[constraint.reader].name,
                   .topic = constraint.topic,
                   .source = constraint.source ? strategy_.tasks()[*constraint.source].name : "",
                   .max_age = constraint.max_age};
  report.bound_by = methods::age;
  const application::Topic* topic = application_.find_topic(constraint.topic);
  const bool outside = topic != nullptr && topic->external;
  bool written = false;
  Bound age = outside ? Bound{} : Bound{nanoseconds{0}};
  for (std::size_t stream = 0; stream < model_.streams().size(); ++stream) {
    const std::size_t writer = model_.streams()[stream].callback;
    if (!contains(strategy_.tasks()[writer].writes, constraint.topic)) {
      continue;
    }
    written = true;
    const Bound until = age_by(stream, constraint.reader, report.bound_by);
    age = age && until ? Bound{std::max(*age, *until)} : Bound{};
  }
  if (!written) {
    age.reset();
    if (!outside) {
      report.bound_by =
          "nothing that writes topic '" + constraint.topic + "' is released in this scenario";
    }
  }
  const Bound kept = kept_age(constraint);
  if (kept && (!age || *kept < *age)) {
    age = kept;
    report.bound_by = methods::age_early;
  }
  report.age = age;
  report.verdict = age && *age <= constraint.max_age ? Verdict::meets : Verdict::not_proved;
  return report;
}

}  // namespace takt::analysis
