// SPDX-License-Identifier: Apache-2.0
//
// The two documents of a probe: what it can do, and how it ended.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "takt/probe/options.hpp"
#include "takt/probe/result.hpp"
#include "takt/probe/text_head.hpp"

namespace takt::probe {
namespace {

using Json = nlohmann::ordered_json;

// Text that is no UTF-8, as the name of a thread may be, would be no JSON: it is replaced.
std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Values>
Json names(const Values& values) {
  Json list = Json::array();
  for (const auto value : values) {
    list.push_back(name_of(value));
  }
  return list;
}

Json bytes(std::optional<std::size_t> number) {
  return number ? Json(*number) : Json();
}

Json refused_setting(const os::NotGranted& one) {
  return {{"what", one.what}, {"why", one.why}, {"fix", one.fix}};
}

Json scheduling(os::SchedulingPolicy policy, int priority, const std::vector<int>& cpus) {
  return {{"policy", to_string(policy)}, {"priority", priority}, {"cpu", cpus}};
}

// What was asked where every thread has it; otherwise who has what.
Json dds_priority(const DdsPriority& asked, const Result& result) {
  std::string others;
  for (const DdsThread& one : result.dds_threads) {
    if (one.status.policy != result.outcome.granted.thread.policy ||
        one.status.priority != one.asked) {
      others += (others.empty() ? "" : ", ") + one.status.name + " " +
                std::string{to_string(one.status.policy)} + " " +
                std::to_string(one.status.priority);
    }
  }
  if (result.dds_threads.empty()) {
    return {};
  }
  return others.empty() ? to_text(asked) : others;
}

Json dds_threads(const Result& result) {
  Json list = Json::array();
  for (const DdsThread& one : result.dds_threads) {
    list.push_back({{"tid", one.status.tid}, {"name", one.status.name}});
    list.back().update(scheduling(one.status.policy, one.status.priority, one.status.cpus));
    list.back().update({{"requested_priority", one.asked}, {"set_by", one.set_by}});
  }
  return list;
}

Json pool(const TlsfPool* used) {
  if (used == nullptr) {
    return {};
  }
  return {{"bytes", used->bytes()}, {"peak_bytes", used->peak()}, {"refused", used->refused()}};
}

Json granted(const Options& options, const Result& result) {
  const Granted& got = result.outcome.granted;
  const os::ResourceUsage& usage = result.outcome.usage;
  Json threads = Json::array();
  for (const os::ThreadStatus& thread : got.threads) {
    threads.push_back({{"tid", thread.tid}, {"name", thread.name}});
    threads.back().update(scheduling(thread.policy, thread.priority, thread.cpus));
  }
  Json document = scheduling(got.thread.policy, got.thread.priority, got.thread.cpus);
  document.update({{"memory_locked", result.memory_locked},
                   {"no_deep_idle", result.no_deep_idle},
                   {"timer_slack_ns", got.timer_slack.count()},
                   {"rr_interval_ns", got.rr_interval.count()},
                   {"minor_faults", usage.minor_faults},
                   {"major_faults", usage.major_faults},
                   {"voluntary_switches", usage.voluntary_switches},
                   {"involuntary_switches", usage.involuntary_switches},
                   {"cpu_time_ns", usage.cpu_time.count()},
                   {"threads", std::move(threads)}});
  if (options.allocator != Allocator::heap) {
    document["allocator"] = name_of(result.pool == nullptr ? Allocator::heap : Allocator::tlsf);
    document["pool"] = pool(result.pool);
  }
  if (options.dscp) {
    const MarkedSockets& sockets = result.sockets;
    const bool all = sockets.all > 0 && sockets.marked == sockets.all;
    document["dscp"] = all ? Json(*options.dscp) : Json();
    document["marked_sockets"] = sockets.marked;
  }
  if (options.dds_priority) {
    document["dds_priority"] = dds_priority(*options.dds_priority, result);
    document["dds_threads"] = dds_threads(result);
  }
  return document;
}

Json requested(const Options& options) {
  Json document = scheduling(options.policy, options.priority, options.cpus);
  if (options.dds_priority) {
    document["dds_priority"] = to_text(*options.dds_priority);
  }
  if (options.allocator != Allocator::heap) {
    document["allocator"] = name_of(options.allocator);
  }
  if (options.dscp) {
    document["dscp"] = *options.dscp;
  }
  return document;
}

Json bus(const BusReport& report) {
  Json changes = Json::array();
  for (const BusReport::Change& one : report.changes) {
    changes.push_back({{"cycle", one.cycle},
                       {"working_counter", one.working_counter},
                       {"operational", one.operational}});
  }
  return {{"slaves", report.slaves},
          {"expected_counter", report.expected_counter},
          {"wrong_counter", report.wrong_counter},
          {"changes", std::move(changes)},
          {"changes_left_out", report.changes_left_out},
          {"foreign_frames", report.foreign_frames}};
}

}  // namespace

std::string describe(std::string_view stack, const std::vector<Capability>& capabilities) {
  Json list = Json::array();
  for (const Capability& one : capabilities) {
    const bool text = std::ranges::find(one.contents, Content::string) != one.contents.end();
    Json excluded = Json::array();
    for (const Exclusion& each : one.excluded) {
      excluded.push_back({{"values", each.values}, {"why", each.why}});
    }
    list.push_back({{"kind", name_of(one.kind)},
                    {"transport", one.transport},
                    {"roles", names(one.roles)},
                    {"fixed_payload_bytes",
                     one.fixed_payload_bytes.empty() ? Json{} : Json(one.fixed_payload_bytes)},
                    {"max_payload_bytes", bytes(one.max_payload_bytes)},
                    {"waits", names(one.waits)},
                    {"reports", one.reports},
                    {"executors", one.executors},
                    {"contents", names(one.contents)},
                    {"durabilities", names(one.durabilities)},
                    {"histories", names(one.histories)},
                    {"allocators", names(one.allocators)},
                    {"min_string_bytes", text ? Json(text_head_bytes) : Json{}},
                    {"without", one.without},
                    {"excluded", std::move(excluded)},
                    {"dds", one.dds},
                    {"wire", one.wire.empty() ? Json{} : Json(one.wire)},
                    {"apart", one.apart}});
  }
  return text_of({{"stack", stack}, {"capabilities", std::move(list)}});
}

std::string to_json(const Options& options, const Result& result) {
  const Outcome& outcome = result.outcome;
  Json notes = Json::array();
  std::ranges::transform(result.notes, std::back_inserter(notes), refused_setting);
  Json document{{"schema_version", 2},
                {"stack", result.stack},
                {"kind", name_of(options.kind)},
                {"role", name_of(options.role)},
                {"transport", options.transport},
                {"executor", options.executor.empty() ? Json() : Json(options.executor)},
                {"status", result.status},
                {"error", result.error ? refused_setting(*result.error) : Json()},
                {"sent", outcome.sent},
                {"received", outcome.received},
                {"lost", outcome.lost},
                {"duplicated", outcome.duplicated},
                {"out_of_order", outcome.out_of_order},
                {"late", outcome.late},
                {"overruns", outcome.overruns},
                {"dropped", result.dropped},
                {"started_ns", outcome.started.time_since_epoch().count()},
                {"ended_ns", outcome.ended.time_since_epoch().count()},
                {"requested", requested(options)},
                {"granted", granted(options, result)},
                {"notes", std::move(notes)},
                {"versions", result.versions}};
  if (outcome.addresses) {
    document["addresses"] = {{"compared", outcome.addresses->compared},
                             {"same", outcome.addresses->same}};
  }
  if (outcome.bus) {
    document["bus"] = bus(*outcome.bus);
  }
  return text_of(document);
}

}  // namespace takt::probe
