// SPDX-License-Identifier: Apache-2.0
#include "overtaking.hpp"

#include <algorithm>

#include "../application/chain_calls.hpp"
#include "../sched/text.hpp"

namespace takt::analysis {
namespace {

using application::Application;
using application::Callback;

const Callback& callback_of(const Application& application, const std::string& name) {
  return *std::ranges::find_if(application.callbacks,
                               [&](const Callback& one) { return one.task.name == name; });
}

// Whether each message of the one leads to a job of the other.
bool runs_for_each(const Callback& reader, const Callback& writer) {
  const auto& writes = writer.task.writes;
  return application::calls(writer, reader) ||
         (writer.join.empty() && reader.task.kind == sched::TaskKind::message &&
          std::ranges::find(writes, reader.task.trigger) != writes.end());
}

}  // namespace

std::string overtaking_in(const Application& application, const application::Chain& chain) {
  const auto found = std::ranges::find_if(chain.callbacks, [&](const std::string& name) {
    return callback_of(application, name).reentrant;
  });
  return found == chain.callbacks.end() ? std::string{} : *found;
}

bool replaces_newer(const Application& application, const application::Chain& chain) {
  bool overtaken = chain.overtaken;
  for (std::size_t i = 1; i < chain.callbacks.size(); ++i) {
    const Callback& writer = callback_of(application, chain.callbacks[i - 1]);
    overtaken = overtaken || writer.reentrant;
    if (overtaken && !runs_for_each(callback_of(application, chain.callbacks[i]), writer)) {
      return true;
    }
  }
  return overtaken && chain.published;
}

void add_overtaking(const Application& application, Report& report) {
  for (std::size_t i = 0; i < application.chains.size(); ++i) {
    const ChainReport& chain = report.scenarios.front().chains[i];
    const std::string overtaking = overtaking_in(application, application.chains[i]);
    if (chain.latency && !chain.age && !overtaking.empty()) {
      report.remarks.push_back(overtaken_text(chain, overtaking));
    }
  }
}

std::string overtaken_text(const ChainReport& chain, const std::string& callback) {
  return "chain " + sched::name_text(chain.name) + ": no bound on " +
         (chain.reaction ? "" : "its reaction and ") + "the age of its data: jobs of '" + callback +
         "' may overtake each other (at_once), and what came last is used until the next comes";
}

}  // namespace takt::analysis
