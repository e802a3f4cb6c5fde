// SPDX-License-Identifier: Apache-2.0
//
// Calls of services. A job that calls waits for the response of the server: the bound of the
// server's response is the longest wait, and the bound of the client's response gives the jitter of
// the requests (docs/reference/analysis.md, eq. 32). Both grow from round to round until they
// agree.
#include <algorithm>
#include <utility>

#include "../application/requests.hpp"
#include "piling_up.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/os/saturating.hpp"

namespace takt::analysis {

void ScenarioModel::add_calls(const application::Application& application) {
  const auto& callbacks = application.callbacks;
  if (std::ranges::none_of(callbacks, &application::Callback::calls)) {
    return;
  }
  waiting_.resize(callbacks.size());
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    waiting_[i] = {.declared = callbacks[i].suspension, .segments = callbacks[i].segments};
    for (std::size_t at = 0; at < callbacks[i].segments.size(); ++at) {
      if (const std::string& service = callbacks[i].segments[at].call; !service.empty()) {
        const std::size_t server = application.server_of(service);
        waiting_[i].calls.push_back(
            {.segment = at, .server = server == callbacks.size() ? nobody : server});
      }
    }
  }
}

// The requests of the stream's jobs: a stream for each of their calls.
void ScenarioModel::add_called(const sched::CompiledStrategy& strategy, std::size_t stream) {
  if (waiting_.empty()) {
    return;
  }
  for (const Call& call : waiting_[streams_[stream].callback].calls) {
    if (call.server == nobody) {
      continue;
    }
    add_released(strategy, {.callback = call.server, .called_by = stream, .call = call.segment},
                 false);
  }
}

// The callbacks whose jobs wait for those of the stream.
std::vector<std::size_t> ScenarioModel::clients_of(std::size_t stream) const {
  std::vector<std::size_t> result;
  for (stream = streams_[stream].called_by; stream != nobody; stream = streams_[stream].called_by) {
    result.push_back(streams_[stream].callback);
  }
  return result;
}

nanoseconds ScenarioModel::shortest_response(std::size_t server) const noexcept {
  if (server == nobody) {
    return nanoseconds{0};
  }
  const Cost& cost = costs_[server];
  nanoseconds result = cost.factor < 1 ? nanoseconds{0} : cost.best;
  const std::vector<application::Segment>& segments = waiting_[server].segments;
  for (std::size_t i = 1; i < segments.size(); i += 2) {
    result += segments[i].shortest;
  }
  for (const Call& call : waiting_[server].calls) {
    result += shortest_response(call.server);
  }
  return result;
}

// Of the segments [first, end) of a job.
nanoseconds ScenarioModel::shortest_part(std::size_t callback, std::size_t first,
                                         std::size_t end) const noexcept {
  const Waiting& waiting = waiting_[callback];
  nanoseconds result{0};
  for (std::size_t i = first; i < end; ++i) {
    // Best cases of a job that computes for less than declared are shorter, too.
    const bool counts = i % 2 != 0 || costs_[callback].factor >= 1;
    result += counts ? waiting.segments[i].shortest : nanoseconds{0};
  }
  for (const Call& call : waiting.calls) {
    if (call.segment >= first && call.segment < end) {
      result += shortest_response(call.server);
    }
  }
  return result;
}

// A request comes when the client has done what is before it, and so long before the client's end
// that the server can answer and the client do what follows.
Arrivals ScenarioModel::requests(std::size_t stream, const ScenarioBounds& bounds) const noexcept {
  const std::size_t client = streams_[stream].called_by;
  const Arrivals& releases = demand(client).releases;
  const std::optional<nanoseconds>& response = bounds.responses[client].bound;
  if (!response || releases.period.count() <= 0) {
    return {};
  }
  const std::size_t callback = streams_[client].callback;
  const std::size_t end = waiting_[callback].segments.size();
  const nanoseconds whole = shortest_part(callback, 0, end);
  const nanoseconds varies = std::max(nanoseconds{0}, *response - whole);
  return unless_piling_up({.period = releases.period,
                           .jitter = releases.jitter + varies,
                           // Jobs of the client follow each other.
                           .distance = std::max(whole, releases.distance - varies)});
}

// Of a server whose requests need not be waited for: a job takes its request when it starts, and
// until then the others of its response may come. Each client waits for one of them.
std::optional<std::int64_t> ScenarioModel::most_requests(
    std::size_t server, const std::vector<Response>& responses) const {
  std::vector<std::size_t> clients;
  nanoseconds longest{0};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].callback != server) {
      continue;
    }
    if (!responses[i].bound) {
      return {};
    }
    longest = std::max(longest, *responses[i].bound);
    const std::size_t caller = streams_[i].called_by;
    if (caller != nobody && std::ranges::count(clients, streams_[caller].callback) == 0) {
      clients.push_back(streams_[caller].callback);
    }
  }
  auto waiting = static_cast<std::int64_t>(clients.size());
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].callback == server && streams_[i].called_by == nobody) {
      const Arrivals& releases = demand(i).releases;
      if (releases.period.count() <= 0) {
        return {};
      }
      waiting += releases.closed(std::max(nanoseconds{0}, longest - nanoseconds{1}));
    }
  }
  return waiting;
}

bool ScenarioModel::may_lose_requests(std::size_t server,
                                      const std::vector<Response>& responses) const {
  const std::optional<std::int64_t> waiting = most_requests(server, responses);
  return !waiting || std::cmp_greater(*waiting, queues_[server]);
}

void ScenarioModel::note_lost_requests(std::size_t server, const std::vector<Response>& responses) {
  const std::string& service = strategy_->tasks()[server].trigger;
  const std::optional<std::int64_t> waiting = most_requests(server, responses);
  if (!application::is_requested(service) || !waiting ||
      std::cmp_less_equal(*waiting, queues_[server])) {
    return;
  }
  const std::string begin =
      "'" + strategy_->tasks()[server].name + "' may lose requests of service ";
  if (std::ranges::none_of(remarks_,
                           [&](const std::string& one) { return one.starts_with(begin); })) {
    remarks_.push_back(begin + application::service_text(service) + ": up to " +
                       std::to_string(*waiting) + " wait at once, and its queue holds " +
                       std::to_string(queues_[server]) +
                       ". A client that calls it may wait for ever. Give it more depth, below "
                       "topics");
  }
}

std::optional<nanoseconds> ScenarioModel::longest_response(
    std::size_t stream, const Call& call, const std::vector<Response>& responses) const {
  if (call.server == nobody ||
      (application::is_requested(strategy_->tasks()[call.server].trigger) &&
       may_lose_requests(call.server, responses))) {
    return {};
  }
  std::optional<nanoseconds> longest = nanoseconds{0};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& server = streams_[i];
    if (server.callback != call.server) {
      continue;
    }
    if (server.called_by == stream && server.call == call.segment) {
      return responses[i].bound;
    }
    // Where the requests of this stream are not followed: the longest of all.
    longest = longest && responses[i].bound ? std::max(longest, responses[i].bound) : std::nullopt;
  }
  return longest;
}

// Whether anything changed.
bool ScenarioModel::propagate_responses(const std::vector<Response>& responses) {
  if (waiting_.empty()) {
    return false;
  }
  bool changed = false;
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const Waiting& waiting = waiting_[streams_[stream].callback];
    if (waiting.calls.empty()) {
      continue;
    }
    std::optional<nanoseconds> suspension = waiting.declared;
    for (const Call& call : waiting.calls) {
      if (call.server != nobody) {
        note_lost_requests(call.server, responses);
      }
      const auto response = longest_response(stream, call, responses);
      suspension = suspension && response ? std::optional{os::add_sat(*suspension, *response)}
                                          : std::nullopt;
    }
    Demand& demand = demand_of(stream);
    const bool unanswered = !suspension;
    const nanoseconds waits = suspension.value_or(demand.suspension);
    changed = changed || demand.suspension != waits || demand.unanswered != unanswered;
    demand.suspension = waits;
    demand.unanswered = unanswered;
  }
  return changed;
}

void ScenarioModel::forget_responses() {
  for (std::size_t stream = 0; !waiting_.empty() && stream < streams_.size(); ++stream) {
    demand_of(stream).suspension = waiting_[streams_[stream].callback].declared;
    demand_of(stream).unanswered = false;
  }
}

}  // namespace takt::analysis
