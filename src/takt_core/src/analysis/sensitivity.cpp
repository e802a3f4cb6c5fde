// SPDX-License-Identifier: Apache-2.0
#include "sensitivity.hpp"

#include <algorithm>

#include "acceptance.hpp"
#include "factor_search.hpp"
#include "sensitivity_rounds.hpp"

namespace takt::analysis {
namespace {

constexpr std::int64_t steps_of_one = 2'000'000;
// Where each question is a whole analysis: a few seconds in all.
constexpr std::int64_t steps_of_all = 2'000'000'000;

// Cores that do not depend on each other, by their closed tests.
class OfCores final : public Question {
 public:
  explicit OfCores(ScenarioModel& model) : model_(model) {
    for (const ScenarioModel::CoreDemands& core : model.cores()) {
      cores_.emplace_back(model.test(), core.demands, core.supply);
      Effort effort = effort_for(core);
      kept_.push_back(!core.entangled && cores_.back().accepts(core.demands, effort));
    }
  }

  // From now on of this callback, or of all of them.
  void ask_for(std::size_t callback) {
    callback_ = callback;
    asked_.clear();
    for (std::size_t i = 0; i < model_.streams().size(); ++i) {
      if (callback == nobody || model_.streams()[i].callback == callback) {
        asked_.push_back(model_.core_of(i));
      }
    }
    std::ranges::sort(asked_);
    asked_.erase(std::ranges::unique(asked_).begin(), asked_.end());
    never_ = false;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const bool stays = std::ranges::find(asked_, i) == asked_.end();
      never_ = never_ || model_.cores()[i].entangled || (stays && !kept_[i]);
    }
  }

  std::optional<bool> known(double factor) override {
    const bool refused =
        never_ || !all(factor, [&](std::size_t core) {
          Effort effort = effort_for(model_.cores()[core]);
          return !cores_[core].is_refused_again(model_.cores()[core].demands, effort);
        });
    return refused ? std::optional{false} : std::nullopt;
  }

  bool accepts(double factor) override {
    return !never_ && all(factor, [&](std::size_t core) {
      Effort effort = effort_for(model_.cores()[core]);
      return cores_[core].accepts(model_.cores()[core].demands, effort);
    });
  }

 private:
  template <class Holds>
  bool all(double factor, Holds holds) {
    model_.scale(factor, callback_);
    return std::ranges::all_of(asked_, holds);
  }

  static Effort effort_for(const ScenarioModel::CoreDemands& core) {
    const auto demands = static_cast<std::int64_t>(core.demands.size());
    return {.steps = std::max(steps_of_one, 20 * demands * demands)};
  }

  ScenarioModel& model_;
  std::vector<Acceptance> cores_;
  std::vector<bool> kept_;  // as they are declared
  std::size_t callback_ = nobody;
  std::vector<std::size_t> asked_;  // cores
  bool never_ = false;
};

// Where the schedule graph is asked: the whole of it.
class OfGraphs final : public Question {
 public:
  OfGraphs(ScenarioModel& model, Graphs graphs) : model_(model), graphs_(graphs) {}

  void ask_for(std::size_t callback) {
    callback_ = callback;
    accepted_ = declared_;
  }
  [[nodiscard]] bool is_used_up() const { return left_ <= 0; }

  std::optional<bool> known(double factor) override { return accepts(factor); }

  bool accepts(double factor) override {
    if (factor <= accepted_) {
      return true;
    }
    model_.scale(factor, callback_);
    Effort effort{.steps = steps_of_one};
    const bool answer = model_.accepts(effort, graphs_) == true;
    left_ -= steps_of_one - effort.steps;
    accepted_ = answer ? factor : accepted_;
    declared_ = factor == 1 ? accepted_ : declared_;  // whoever is asked for
    return answer;
  }

 private:
  ScenarioModel& model_;
  Graphs graphs_;
  std::size_t callback_ = nobody;
  std::int64_t left_ = steps_of_all;
  double accepted_ = 0;
  double declared_ = 0;
};

template <class Asked, class IsUsedUp>
Sensitivity search(Asked& question, ScenarioModel& model,
                   const application::Application& application, const Progress& progress,
                   IsUsedUp is_used_up) {
  Sensitivity result;
  question.ask_for(nobody);
  const double all = FactorSearch{question}.run_exactly();
  if (all > 0) {
    result.all = all;
  }
  model.scale(1);
  std::vector<bool> released(application.callbacks.size(), false);
  for (const Stream& stream : model.streams()) {
    released[stream.callback] = true;
  }
  const auto count = static_cast<std::size_t>(std::ranges::count(released, true));
  // What the one before may take on top: often it is the same deadline that would be missed.
  std::optional<double> room;
  for (std::size_t i = 0; i < released.size(); ++i) {
    if (!released[i]) {
      continue;
    }
    if (is_used_up() || Interruptible::interrupted()) {
      ++result.left_out;
      continue;
    }
    if (progress) {
      progress(result.callbacks.size(), count);
    }
    question.ask_for(i);
    const auto worst = static_cast<double>(model.execution(i).count());
    const double found =
        FactorSearch{question, room ? std::optional{1 + *room / worst} : std::nullopt}.run();
    model.scale(1, i);
    // One callback alone may compute for at least as much longer as it may with all others.
    result.callbacks.emplace_back(application.callbacks[i].task.name, std::max(found, all));
    room = (found - 1) * worst;
  }
  return result;
}

}  // namespace

std::optional<Sensitivity> find_sensitivity(ScenarioModel& model,
                                            const application::Application& application,
                                            Graphs graphs, const Progress& progress,
                                            const ScenarioBounds* solved) {
  if (graphs != Graphs::none) {
    OfGraphs question{model, graphs};
    question.ask_for(nobody);
    if (!question.accepts(1)) {
      model.scale(1);
      return {};
    }
    return search(question, model, application, progress, [&] { return question.is_used_up(); });
  }
  if (model.iterates()) {
    OfRounds question{model, solved};
    return search(question, model, application, progress, [&] { return question.is_used_up(); });
  }
  OfCores question{model};
  return search(question, model, application, progress, [] { return false; });
}

}  // namespace takt::analysis
