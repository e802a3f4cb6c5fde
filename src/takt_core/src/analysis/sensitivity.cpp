// SPDX-License-Identifier: Apache-2.0
#include "sensitivity.hpp"

#include <algorithm>
#include <limits>

#include "acceptance.hpp"

namespace takt::analysis {
namespace {

constexpr double precision = 1.001;
constexpr double least = 1e-3;
constexpr double most = 1e6;
constexpr std::int64_t steps_of_one = 2'000'000;
// Where each question is a whole analysis: a few seconds in all.
constexpr std::int64_t steps_of_all = 2'000'000'000;

// A verdict for execution times that are a factor longer: the shorter they are, the better.
class Question {
 public:
  Question() = default;
  virtual ~Question() = default;
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  Question(Question&&) = delete;
  Question& operator=(Question&&) = delete;

  // Whether it is known at little cost that the factor is refused.
  virtual bool is_refused_again(double factor) = 0;
  virtual bool accepts(double factor) = 0;
};

// The largest factor that is accepted, by halving; 0 when none is. What nothing is known against is
// taken for accepted on the way, and only the largest of these is asked for in the end: if it is
// accepted so are the others, and if not the way is gone again with what is known then.
class Search {
 public:
  explicit Search(Question& question) : question_(question) {}

  double run() {
    for (;;) {
      assumed_ = 0;
      const double found = halve();
      if (assumed_ <= accepted_ || Interruptible::interrupted()) {
        return found;
      }
      if (question_.accepts(assumed_)) {
        accepted_ = assumed_;
        return found;
      }
      refused_ = assumed_;
    }
  }

 private:
  bool accepted(double factor) {
    if (factor <= accepted_ || factor >= refused_) {
      return factor <= accepted_;
    }
    if (question_.is_refused_again(factor)) {
      refused_ = factor;
      return false;
    }
    assumed_ = std::max(assumed_, factor);
    return true;
  }

  double halve() {
    double low = 1;
    double high = 1;
    if (accepted(1)) {
      do {
        low = high;
        high *= 2;
      } while (high < most && accepted(high));
      if (high >= most) {
        return most;
      }
    } else {
      do {
        high = low;
        low /= 2;
        if (low < least) {
          return 0;
        }
      } while (!accepted(low));
    }
    while (high > low * precision) {
      const double middle = low + (high - low) / 2;
      (accepted(middle) ? low : high) = middle;
    }
    return low;
  }

  Question& question_;
  double accepted_ = 0;
  double refused_ = std::numeric_limits<double>::infinity();
  double assumed_ = 0;
};

// Cores that do not depend on each other, by their closed tests.
class OfCores final : public Question {
 public:
  explicit OfCores(ScenarioModel& model) : model_(model) {
    for (const ScenarioModel::CoreDemands& core : model.cores()) {
      cores_.emplace_back(model.test(), core.demands);
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

  bool is_refused_again(double factor) override {
    return never_ || !all(factor, [&](std::size_t core) {
             Effort effort = effort_for(model_.cores()[core]);
             return !cores_[core].is_refused_again(model_.cores()[core].demands, effort);
           });
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

// Where one core depends on another, or the schedule graph is asked: the whole of it.
class OfModel final : public Question {
 public:
  OfModel(ScenarioModel& model, Graphs graphs) : model_(model), graphs_(graphs) {}

  void ask_for(std::size_t callback) {
    callback_ = callback;
    accepted_ = 0;
  }
  [[nodiscard]] bool is_used_up() const { return left_ <= 0; }

  bool is_refused_again(double factor) override { return !accepts(factor); }

  bool accepts(double factor) override {
    if (factor <= accepted_) {
      return true;
    }
    model_.scale(factor, callback_);
    Effort effort{.steps = steps_of_one};
    const bool answer = model_.accepts(effort, graphs_) == true;
    left_ -= steps_of_one - effort.steps;
    accepted_ = answer ? factor : accepted_;
    return answer;
  }

 private:
  ScenarioModel& model_;
  Graphs graphs_;
  std::size_t callback_ = nobody;
  std::int64_t left_ = steps_of_all;
  double accepted_ = 0;
};

template <class Asked, class IsUsedUp>
Sensitivity search(Asked& question, ScenarioModel& model,
                   const application::Application& application, const Progress& progress,
                   IsUsedUp is_used_up) {
  Sensitivity result;
  question.ask_for(nobody);
  const double all = Search{question}.run();
  if (all > 0) {
    result.all = all;
  }
  model.scale(1);
  std::vector<bool> released(application.callbacks.size(), false);
  for (const Stream& stream : model.streams()) {
    released[stream.callback] = true;
  }
  const auto count = static_cast<std::size_t>(std::ranges::count(released, true));
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
    result.callbacks.emplace_back(application.callbacks[i].task.name, Search{question}.run());
    model.scale(1, i);
  }
  return result;
}

}  // namespace

std::optional<Sensitivity> find_sensitivity(ScenarioModel& model,
                                            const application::Application& application,
                                            Graphs graphs, const Progress& progress) {
  if (graphs == Graphs::none && !model.iterates()) {
    OfCores question{model};
    return search(question, model, application, progress, [] { return false; });
  }
  OfModel question{model, graphs};
  question.ask_for(nobody);
  if (graphs != Graphs::none && !question.accepts(1)) {
    model.scale(1);
    return {};
  }
  return search(question, model, application, progress, [&] { return question.is_used_up(); });
}

}  // namespace takt::analysis
