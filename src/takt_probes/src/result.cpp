// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/result.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "takt/probe/failure.hpp"
#include "takt/probe/json.hpp"

namespace takt::probe {
namespace {

void write_shortfall(JsonWriter& json, const os::Shortfall& shortfall) {
  json.open_object()
      .field("what", shortfall.what)
      .field("why", shortfall.why)
      .field("fix", shortfall.fix)
      .close_object();
}

void write_scheduling(JsonWriter& json, os::SchedulingPolicy policy, int priority,
                      const std::vector<int>& cpus) {
  json.field("policy", to_string(policy)).field("priority", priority).key("cpu").open_array();
  for (const int cpu : cpus) {
    json.value(cpu);
  }
  json.close_array();
}

void write_obtained(JsonWriter& json, const Result& result) {
  const Obtained& obtained = result.outcome.obtained;
  const os::ResourceUsage& usage = result.outcome.usage;
  json.open_object();
  write_scheduling(json, obtained.thread.policy, obtained.thread.priority, obtained.thread.cpus);
  json.field("memory_locked", result.memory_locked)
      .field("no_deep_idle", result.no_deep_idle)
      .field("timer_slack_ns", obtained.timer_slack.count())
      .field("rr_interval_ns", obtained.rr_interval.count())
      .field("minor_faults", usage.minor_faults)
      .field("major_faults", usage.major_faults)
      .field("voluntary_switches", usage.voluntary_switches)
      .field("involuntary_switches", usage.involuntary_switches)
      .field("cpu_time_ns", usage.cpu_time.count())
      .key("threads")
      .open_array();
  for (const os::ThreadStatus& thread : obtained.threads) {
    json.open_object().field("tid", thread.tid).field("name", thread.name);
    write_scheduling(json, thread.policy, thread.priority, thread.cpus);
    json.close_object();
  }
  json.close_array().close_object();
}

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw Failure{{.what = "the result document " + path.string() + " could not be written",
                 .why = os::error_text(error),
                 .fix = "choose another path with --result, or free space there"}};
}

}  // namespace

std::string to_json(const Options& options, const Result& result) {
  const Outcome& outcome = result.outcome;
  JsonWriter json;
  json.open_object()
      .field("schema_version", 1)
      .field("stack", result.stack)
      .field("kind", name_of(options.kind))
      .field("role", name_of(options.role))
      .field("transport", options.transport)
      .field("status", result.status)
      .key("error");
  if (result.error) {
    write_shortfall(json, *result.error);
  } else {
    json.null();
  }
  json.field("sent", outcome.sent)
      .field("received", outcome.received)
      .field("lost", outcome.lost)
      .field("duplicated", outcome.duplicated)
      .field("out_of_order", outcome.out_of_order)
      .field("late", outcome.late)
      .field("overruns", outcome.overruns)
      .field("dropped", result.dropped)
      .field("started_ns", outcome.started.time_since_epoch().count())
      .field("ended_ns", outcome.ended.time_since_epoch().count())
      .key("asked")
      .open_object();
  write_scheduling(json, options.policy, options.priority, options.cpus);
  json.close_object().key("obtained");
  write_obtained(json, result);
  json.key("notes").open_array();
  for (const os::Shortfall& note : result.notes) {
    write_shortfall(json, note);
  }
  json.close_array().key("versions").open_object();
  for (const auto& [name, version] : result.versions) {
    json.field(name, version);
  }
  return json.close_object().close_object().text();
}

void write_document(const std::filesystem::path& path, const std::string& text) {
  const auto written = [&text](std::FILE* file) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
           std::fputc('\n', file) != EOF && std::fflush(file) == 0;
  };
  if (path.empty()) {
    if (!written(stdout)) {
      fail("on standard output", errno);
    }
    return;
  }
  // A device or a pipe is written to; only a file can be replaced as a whole.
  std::error_code ignored;
  const auto kind = std::filesystem::status(path, ignored).type();
  const bool replace =
      kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  const std::filesystem::path target = replace ? path.string() + ".unfinished" : path.string();
  std::FILE* file = std::fopen(target.c_str(), "we");
  if (file == nullptr) {
    fail(path, errno);
  }
  int error = written(file) ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) {
    error = errno;
  }
  if (replace && error == 0 && std::rename(target.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    if (replace) {
      std::remove(target.c_str());
    }
    fail(path, error);
  }
}

}  // namespace takt::probe
