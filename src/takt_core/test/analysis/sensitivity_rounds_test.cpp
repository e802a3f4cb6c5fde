// SPDX-License-Identifier: Apache-2.0
//
// Where callbacks release each other, factors are found with the jitters of other factors; the
// whole analysis, from the beginning, says the same of each.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "analysis/sensitivity.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {
namespace {

// Chains of one to four callbacks.
std::string draw(RandomTasks& random, const std::string& policy) {
  const auto count = random.number(2, 9);
  std::string callbacks;
  std::int64_t left = 0;  // of a chain
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string name = "c" + std::to_string(i);
    const auto worst = static_cast<int>(random.number(1, 400 / count));
    const auto priority = static_cast<int>(random.number(1, 6));
    std::string more = ", 'deadline': " + std::to_string(random.number(300, 1500));
    const bool first = left == 0;
    left = first ? random.number(0, 3) : left - 1;
    if (left > 0 && i + 1 < count) {
      more += ", 'writes': ['t" + std::to_string(i + 1) + "']";
    }
    const auto period = static_cast<int>(random.number(300, 1500));
    callbacks += (i > 0 ? "," : "") +
                 (first ? timer(name, period, worst, priority, more)
                        : message(name, "t" + std::to_string(i), worst, priority, more));
  }
  return app(callbacks, ", 'policy': '" + policy + "'" +
                            (random.chance(0.5) ? ", 'overheads': {'release': 2}" : ""));
}

class Whole {
 public:
  explicit Whole(const application::Application& application)
      : strategy_(application::compile(application)),
        model_(application, strategy_, strategy_.scenarios().front()) {}

  bool accepts(double factor, std::size_t callback) {
    model_.scale(1);
    model_.scale(factor, callback);
    Effort effort;
    return model_.accepts(effort, Graphs::none) == true;
  }
  ScenarioModel& model() { return model_; }

 private:
  sched::CompiledStrategy strategy_;
  ScenarioModel model_;
};

void compare(const std::string& policy, int sets) {
  RandomTasks random{3};
  int found = 0;
  for (int set = 0; set < sets; ++set) {
    const std::string json = draw(random, policy);
    const application::Application application = parsed(json);
    Whole whole{application};
    const auto sensitivity = find_sensitivity(whole.model(), application, Graphs::none);
    ASSERT_TRUE(sensitivity) << json;
    Whole solved{application};
    Effort effort;
    const ScenarioBounds bounds = solved.model().solve(effort, Graphs::witness);
    const auto same = find_sensitivity(solved.model(), application, Graphs::none, {}, &bounds);
    EXPECT_EQ(same->all, sensitivity->all) << json;
    EXPECT_EQ(same->callbacks, sensitivity->callbacks) << json;
    const auto holds = [&](double factor, std::size_t callback) {
      if (factor < 1) {  // shorter best cases change the jitters, too
        return;
      }
      EXPECT_TRUE(whole.accepts(factor, callback)) << factor << " in " << json;
      EXPECT_FALSE(whole.accepts(factor * 1.0011, callback)) << factor << " in " << json;
      ++found;
    };
    holds(sensitivity->all.value_or(0), nobody);
    for (std::size_t i = 0; i < sensitivity->callbacks.size(); ++i) {
      holds(sensitivity->callbacks[i].second, i);
    }
  }
  EXPECT_GT(found, 5 * sets / 4);
}

TEST(sensitivity, where_callbacks_release_each_other_is_that_of_the_whole_analysis) {
  compare("fp", rounds(400));
}

TEST(sensitivity, where_callbacks_release_each_other_under_edf_is_that_of_the_whole_analysis) {
  compare("edf", rounds(40));
}

}  // namespace
}  // namespace takt::analysis
