// SPDX-License-Identifier: Apache-2.0
#include "sensitivity_rounds.hpp"

#include <algorithm>

#include "boosting.hpp"
#include "suspension.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {
namespace {

// As much as for the analysis itself (Effort).
constexpr std::int64_t steps_of_one = 20'000'000;
// A few seconds in all.
constexpr std::int64_t steps_of_all = 2'000'000'000;
constexpr int most_rounds = 1000;
// Of jitters that grow on after a deadline is missed: they may never agree.
constexpr int most_late_rounds = 30;

bool is_late(const Demand& demand, const Response& response) noexcept {
  return !demand.interrupt && !(response.bound && *response.bound <= demand.deadline);
}

}  // namespace

OfRounds::OfRounds(ScenarioModel& model) : model_(model), left_(steps_of_all) {
  for (const ScenarioModel::CoreDemands& core : model.cores()) {
    separate_.push_back(model.test() == Test::fixed_priority && !anyone_waits(core.demands) &&
                        !anyone_boosted(core.demands));
  }
  if (accepts(1)) {
    declared_ = least_;
  }
}

void OfRounds::ask_for(std::size_t callback) {
  callback_ = callback;
  least_ = declared_;
  most_.reset();
  at_least_ = false;
  accepted_ = 0;
  by_rounds_ = false;
}

void OfRounds::begin(double factor) {
  model_.scale(factor, callback_);
  if (at_least_) {
    return;
  }
  if (least_) {
    model_.assume(*least_);
  } else {
    model_.forget_jitters();
  }
  at_least_ = true;
}

void OfRounds::pay(const Effort& effort) noexcept {
  left_ -= steps_of_one - effort.steps;
}

std::optional<bool> OfRounds::known(double factor) {
  if (factor <= accepted_) {
    return true;
  }
  begin(factor);
  Effort effort{.steps = steps_of_one};
  std::optional<bool> result;
  if (is_late_again(effort)) {
    result = false;
  } else if (holds_with_most(effort)) {
    result = true;
    accepted_ = factor;
  }
  pay(effort);
  return result || !by_rounds_ ? result : accepts(factor);
}

bool OfRounds::accepts(double factor) {
  begin(factor);
  Effort effort{.steps = steps_of_one};
  bool accepted = false;
  at_least_ = false;
  for (int round = 0; round < most_rounds && !accepted; ++round) {
    ScenarioBounds bounds = model_.round({}, Graphs::none, effort);
    if (bounds.schedulable != true) {
      late_ = round == 0 ? late(bounds) : late_;
      by_rounds_ = by_rounds_ || round > 0 || !late_;
      if (round > 0) {
        settle_late(std::move(bounds), effort);
        look_below(factor, effort);
      }
      break;
    }
    accepted = !model_.propagate(bounds.responses);
  }
  accepted_ = accepted ? std::max(accepted_, factor) : accepted_;
  if (accepted && factor >= 1) {  // shorter best cases might let messages follow more closely
    least_ = model_.jitters();
  }
  pay(effort);
  return accepted;
}

// Goes on to the jitters that agree where every job ends at its deadline at the latest: where all
// deadlines are kept with a smaller factor, no jitters are above these.
void OfRounds::settle_late(ScenarioBounds bounds, Effort& effort) {
  for (int round = 0; round < most_late_rounds; ++round) {
    bool bounded = true;
    for (std::size_t stream = 0; stream < bounds.responses.size(); ++stream) {
      std::optional<nanoseconds>& bound = bounds.responses[stream].bound;
      const nanoseconds deadline = model_.demand(stream).deadline;
      if (deadline < sched::longest_time) {
        bound = std::min(bound.value_or(deadline), deadline);
      }
      bounded = bounded && bound;
    }
    if (!bounded || effort.steps <= 0) {
      return;
    }
    if (!model_.propagate(bounds.responses)) {
      most_ = model_.jitters();
      return;
    }
    bounds = model_.round({}, Graphs::none, effort);
  }
}

// Most often little is missing.
void OfRounds::look_below(double factor, Effort& effort) {
  for (const double share : {0.99, 0.9}) {
    if (factor * share <= accepted_) {
      return;
    }
    model_.scale(factor * share, callback_);
    if (holds_with_most(effort)) {
      accepted_ = factor * share;
      return;
    }
  }
}

// The lowest of them: the more come before it, the more often it is the first to be late.
std::optional<OfRounds::Late> OfRounds::late(const ScenarioBounds& bounds) const {
  std::optional<Late> result;
  sched::Level lowest = sched::infinite_ceiling;
  for (std::size_t at = 0; at < model_.cores().size(); ++at) {
    const ScenarioModel::CoreDemands& core = model_.cores()[at];
    for (std::size_t i = 0; separate_[at] && i < core.jobs; ++i) {
      const Demand& demand = core.demands[i];
      if (demand.level < lowest && is_late(demand, bounds.cores[at].responses[i])) {
        result = Late{.core = at, .demand = i};
        lowest = demand.level;
      }
    }
  }
  return result;
}

bool OfRounds::is_late_again(Effort& effort) const {
  const auto& cores = model_.cores();
  if (late_ && !fixed_priority_keeps(cores[late_->core].demands, late_->demand, effort)) {
    return true;
  }
  return model_.test() != Test::fixed_priority &&
         std::ranges::any_of(cores, [&](const ScenarioModel::CoreDemands& core) {
           return analysis::accepts(model_.test(), core.demands, effort) != true;
         });
}

bool OfRounds::holds_with_most(Effort& effort) {
  if (!most_) {
    return false;
  }
  at_least_ = false;
  model_.assume(*most_);
  const ScenarioBounds bounds = model_.round({}, Graphs::none, effort);
  if (bounds.schedulable != true) {
    return false;
  }
  model_.propagate(bounds.responses);
  return model_.jitters().is_within(*most_);
}

}  // namespace takt::analysis
