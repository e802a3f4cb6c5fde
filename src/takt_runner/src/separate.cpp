// SPDX-License-Identifier: Apache-2.0
#include "separate.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <takt/trace/tracer.hpp>

#include "members.hpp"
#include "merge.hpp"

namespace takt::runner {
namespace {

// Each host numbers messages from a number of its own, which the others do not reach.
constexpr std::int64_t numbers_of_a_host = std::int64_t{1} << 40U;

Elsewhere elsewhere(const Execution& execution) {
  const auto hosts = hosts_of(execution.application);
  const auto own = std::ranges::find(hosts, execution.settings.host);
  return {.meeting = execution.settings.meeting,
          .first_sequence = own == hosts.end() ? 0 : (own - hosts.begin()) * numbers_of_a_host,
          .clock_offset = execution.settings.clock_offset};
}

void feed_from_outside(const Execution& execution, Common& common,
                       const std::filesystem::path& part, const os::StopFlag& stop) {
  const Context& context = until_the_process_ends<Context>(through_middleware);
  auto& feeder =
      until_the_process_ends<Feeder>(execution, common, context, Delivery::own_callbacks);
  trace::Tracer tracer{part};
  std::map<std::string, std::uint16_t> topics;
  feeder.number_topics([&](const std::string& topic) {
    const auto number = static_cast<std::uint16_t>(topics.size());
    topics.emplace(topic, number);
    tracer.writer().name(trace::NameKind::topic, number, topic);
    return number;
  });
  feeder.wait_for_readers(stop);
  if (const auto start = common.meet(stop)) {
    feeder.feed(*start, end_of(execution, *start), stop, tracer.add_thread());
  }
}

}  // namespace

Separate::Separate(const Execution& execution, std::size_t processes)
    : execution_{execution},
      outside_{has_outside(execution.application, execution.settings.host)},
      common_{execution.application.topics.size(), processes + (outside_ ? 1 : 0),
              elsewhere(execution), devices_of(execution.application).size()} {}

void Separate::add(const std::string& name, const Run& run) {
  add(baseline::NodeProcess{.name = name}, run);
}

std::filesystem::path Separate::add_part() {
  auto part = execution_.settings.trace;
  part += ".part" + std::to_string(parts_.size());
  return parts_.emplace_back(std::move(part));
}

void Separate::add(baseline::NodeProcess process, const Run& run) {
  const std::filesystem::path part = add_part();
  process.run = [this, run, part](os::StopFlag& stop) {
    try {
      run(part, stop);
      return 0;
    } catch (...) {
      common_.fail();
      throw;
    }
  };
  processes_.push_back(std::move(process));
}

void Separate::run(const os::StopFlag& stop, const std::string& kind,
                   const std::vector<std::pair<std::string, std::string>>& attributes) {
  if (outside_) {
    add(baseline::NodeProcess{.name = "takt_outside", .priority = os::max_priority},
        [this](const std::filesystem::path& part, const os::StopFlag& asked) {
          feed_from_outside(execution_, common_, part, asked);
        });
  }
  const auto ended = baseline::run_node_processes(processes_, stop);
  merge_traces(parts_, execution_.settings.trace, attributes);
  for (const baseline::EndedProcess& process : ended) {
    if (process.exit_code != 0) {
      throw std::runtime_error{kind + " '" + process.name + "' ended with exit code " +
                               std::to_string(process.exit_code)};
    }
  }
}

}  // namespace takt::runner
