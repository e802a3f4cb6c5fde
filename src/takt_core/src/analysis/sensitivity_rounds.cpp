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
constexpr std::int64_t steps_of_all = 1'000'000'000;
// Their steps take longer.
constexpr std::int64_t weight_of_chains = 3;
constexpr std::size_t most_rounds = 1000;

bool is_late(const Demand& demand, const Response& response) noexcept {
  return !demand.interrupt && !(response.bound && *response.bound <= demand.deadline);
}

// Of what is closest to its deadline, or latest, what is left, in ns.
std::optional<double> margin_of(const ScenarioModel& model, const ScenarioBounds& bounds) {
  std::optional<nanoseconds> result;
  for (std::size_t at = 0; at < model.cores().size(); ++at) {
    const ScenarioModel::CoreDemands& core = model.cores()[at];
    for (std::size_t i = 0; i < core.jobs; ++i) {
      const std::optional<nanoseconds>& bound = bounds.cores[at].responses[i].bound;
      if (!bound) {
        return {};
      }
      const nanoseconds left = core.demands[i].deadline - *bound;
      result = std::min(result.value_or(left), left);
    }
  }
  return result ? std::optional{static_cast<double>(result->count())} : std::nullopt;
}

// Whether these are the bounds of rounds that kept every deadline: jitters only grew on the way,
// and no graph has shortened a response.
bool is_of_rounds(const ScenarioModel& model, const ScenarioBounds& solved) {
  return solved.converged && solved.schedulable == true && model.test() == Test::fixed_priority &&
         std::ranges::none_of(solved.cores, &CoreBounds::explored) &&
         std::ranges::count(solved.responses, By::graph, &Response::by) == 0;
}

}  // namespace

OfRounds::OfRounds(ScenarioModel& model, const ScenarioBounds* solved)
    : model_(model), by_rounds_(model.has_chains()), left_(steps_of_all) {
  for (const ScenarioModel::CoreDemands& core : model.cores()) {
    // Where chains are analysed as a whole, a demand alone does not say that it is late.
    separate_.push_back(!model.has_chains() && model.test() == Test::fixed_priority &&
                        !anyone_waits(core.demands) && !anyone_boosted(core.demands));
  }
  if (solved != nullptr && is_of_rounds(model, *solved)) {
    declared_ = model.jitters();
    declared_margin_ = margin_of(model, *solved);
    left_ -= weight_of_chains * model.chain_steps();
  } else if (accepts(1)) {
    declared_ = least_;
    declared_margin_ = margin_;
  }
}

void OfRounds::ask_for(std::size_t callback) {
  callback_ = callback;
  least_ = declared_;
  at_least_ = false;
  accepted_ = declared_ ? 1 : 0;
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
  left_ -= steps_of_one - effort.steps + weight_of_chains * model_.chain_steps();
}

std::optional<bool> OfRounds::known(double factor) {
  margin_ = factor == 1 ? declared_margin_ : std::nullopt;
  if (factor <= accepted_) {
    return true;
  }
  if (!declared_ && factor >= 1) {
    return false;
  }
  if (by_rounds_) {
    return accepts(factor);
  }
  Effort effort{.steps = steps_of_one};
  begin(factor);
  std::optional<bool> result;
  if (is_late_again(effort)) {
    result = false;
  }
  pay(effort);
  return result;
}

bool OfRounds::accepts(double factor) {
  begin(factor);
  Effort effort{.steps = steps_of_one};
  bool accepted = false;
  at_least_ = false;
  for (std::size_t round = 0; round < most_rounds && !accepted; ++round) {
    const ScenarioBounds bounds = model_.round({}, Graphs::none, effort);
    margin_ = margin_of(model_, bounds);
    if (bounds.schedulable != true) {
      late_ = round == 0 ? late(bounds) : late_;
      by_rounds_ = by_rounds_ || round > 0 || !late_;
      break;
    }
    accepted = !model_.propagate(bounds, round);
  }
  accepted_ = accepted ? std::max(accepted_, factor) : accepted_;
  if (accepted && factor >= 1) {  // shorter best cases might let messages follow more closely
    least_ = model_.jitters();
  }
  pay(effort);
  return accepted;
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
  if (late_ && !fixed_priority_keeps(cores[late_->core].demands, late_->demand, effort,
                                     cores[late_->core].supply)) {
    return true;
  }
  return model_.test() != Test::fixed_priority && !model_.has_chains() &&
         std::ranges::any_of(cores, [&](const ScenarioModel::CoreDemands& core) {
           return analysis::accepts(model_.test(), core.demands, effort, core.supply) != true;
         });
}

}  // namespace takt::analysis
