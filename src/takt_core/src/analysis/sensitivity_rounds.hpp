// SPDX-License-Identifier: Apache-2.0
//
// How much longer callbacks may compute if releases follow from the ends of other jobs: each
// verdict takes rounds until the jitters are consistent (scenario_model.hpp). The jitters grow with
// execution times, so those of an accepted factor are lower bounds for a larger one: the rounds
// begin with them, and a demand that misses its deadline already then needs no further rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "factor_search.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// The question of a FactorSearch, answered by the closed tests.
class OfRounds final : public Question {
 public:
  // `solved`: see find_sensitivity().
  explicit OfRounds(ScenarioModel& model, const ScenarioBounds* solved = nullptr);

  // Asks about this callback from now on, or about all (nobody).
  void ask_for(std::size_t callback);
  [[nodiscard]] bool is_used_up() const noexcept { return left_ <= 0; }

  std::optional<bool> known(double factor) override;
  bool accepts(double factor) override;
  [[nodiscard]] std::optional<double> margin() const override { return margin_; }

 private:
  struct Late {
    std::size_t core;
    std::size_t demand;
  };

  void begin(double factor);
  [[nodiscard]] std::optional<Late> late(const ScenarioBounds& bounds) const;
  [[nodiscard]] bool is_late_again(Effort& effort) const;
  void pay(const Effort& effort) noexcept;

  ScenarioModel& model_;
  std::vector<bool> separate_;  // by core: fixed priorities, which are checked one by one
  std::optional<ScenarioModel::Jitters> declared_;  // with the execution times of the application
  std::optional<ScenarioModel::Jitters> least_;     // none: there is no smaller factor
  bool at_least_ = false;                           // these are assumed
  std::optional<Late> late_;           // the demand that was refused last, with the least jitters
  double accepted_ = 0;                // of this callback
  std::optional<double> margin_ = {};  // of the last answer, in ns
  std::optional<double> declared_margin_ = {};  // with the execution times of the application
  bool by_rounds_ = false;                      // hardly any answer is known without rounds
  std::size_t callback_ = nobody;
  std::int64_t left_;
};

}  // namespace takt::analysis
