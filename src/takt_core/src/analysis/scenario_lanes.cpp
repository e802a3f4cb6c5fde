// SPDX-License-Identifier: Apache-2.0
//
// Lanes of a callback whose jobs may run at once (sched/turns.hpp). Of n releases in a row each
// lane gets n / lanes at most, rounded up, where one stream releases the callback. Where several
// do, all messages of one of them may come to one lane.
#include <algorithm>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// Before the streams are placed: each is behind its cause.
void ScenarioModel::give_turns(const application::Application& application) {
  if (std::ranges::none_of(application.callbacks,
                           [](const auto& callback) { return callback.lanes > 1; })) {
    return;
  }
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    Stream& own = streams_[stream];
    const application::Callback& callback = application.callbacks[own.callback];
    const std::size_t cause = own.cause();
    if (cause != nobody) {
      pending_[stream].releases = pending_[cause].releases;
    }
    if (callback.lanes > 1 && callback.task.kind == sched::TaskKind::message && !own.last &&
        own.join == nobody && streams_of(own.callback).size() == 1) {
      own.every = static_cast<std::int64_t>(callback.lanes);
      pending_[stream].releases = in_turn(pending_[stream].releases, own.every);
    }
  }
}

// What an early release leads to is followed by messages, and not in turn.
void ScenarioModel::refuse_early_releases_of_lanes(const application::Application& application) {
  if (std::ranges::none_of(application.callbacks,
                           [](const auto& callback) { return callback.lanes > 1; }) ||
      std::ranges::none_of(streams_, &Stream::early)) {
    return;
  }
  for (CoreDemands& core : cores_) {
    core.entangled = true;
  }
  remarks_.emplace_back(
      "nothing is proved of jobs of one callback that run at once together with early releases: "
      "remove max_age, or at_once");
}

}  // namespace takt::analysis
