// SPDX-License-Identifier: Apache-2.0
//
// How much longer callbacks may compute where releases follow from the ends of other jobs: each
// verdict takes rounds until the jitters agree (scenario_model.hpp). The longer jobs compute, the
// larger these are, so those of a factor that was accepted are the least for a larger one: the
// rounds begin there, and whoever is late already then needs none.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "factor_search.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// By the closed tests.
class OfRounds final : public Question {
 public:
  explicit OfRounds(ScenarioModel& model);

  // From now on of this callback, or of all of them (nobody).
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
  std::vector<bool> separate_;  // by core: fixed priorities that are looked at one by one
  std::optional<ScenarioModel::Jitters> declared_;  // with the execution times of the application
  std::optional<ScenarioModel::Jitters> least_;     // none: there is no smaller factor
  bool at_least_ = false;                           // these are assumed
  std::optional<Late> late_;           // the demand that was refused last, with the least jitters
  double accepted_ = 0;                // of this callback
  std::optional<double> margin_ = {};  // of the last answer, in ns
  std::optional<double> declared_margin_ = {};  // with the execution times of the application
  bool by_rounds_ = false;                      // little is known without them
  std::size_t callback_ = nobody;
  std::int64_t left_;
};

}  // namespace takt::analysis
