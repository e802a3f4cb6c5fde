// SPDX-License-Identifier: Apache-2.0
//
// The simulator for Python: flat JSON in (takt/application/parse.hpp), the document of
// `takt simulate --json` out. The interpreter lock is released while it simulates.
#include "simulation.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace takt::sim {
namespace {

constexpr int schema_version = 1;
constexpr double ns_per_ms = 1e6;
constexpr double ns_per_us = 1e3;

double us(nanoseconds time) {
  return static_cast<double>(time.count()) / ns_per_us;
}

nb::object to_python(const Distribution& times) {
  if (times.count == 0) {
    return nb::none();
  }
  nb::dict result;
  result["count"] = times.count;
  result["min_us"] = us(times.min);
  result["mean_us"] = times.mean / ns_per_us;
  result["max_us"] = us(times.max);
  constexpr std::array keys = {"p50_us", "p90_us", "p99_us", "p999_us"};
  for (std::size_t i = 0; i < keys.size() && times.has_percentiles; ++i) {
    result[keys[i]] = us(times.at[i]);
  }
  return result;
}

nb::dict to_python(const CallbackResult& callback) {
  nb::dict result;
  result["callback"] = callback.name;
  result["cpu"] = callback.cpu;
  result["host"] = callback.host.empty() ? nb::none() : nb::object(nb::str(callback.host.c_str()));
  result["releases"] = callback.releases;
  result["jobs"] = callback.jobs;
  result["unfinished"] = callback.unfinished;
  result["skipped"] = callback.skipped;
  result["misses"] = callback.misses;
  result["preemptions"] = callback.preemptions;
  result["early_releases"] = callback.early_releases;
  result["budget_overruns"] = callback.budget_overruns;
  result["age_violations"] = callback.age_violations;
  result["without_data"] = callback.without_data;
  result["old_data"] = callback.old_data;
  result["overwritten"] = callback.overwritten;
  result["lost_arrivals"] = callback.lost_arrivals;
  result["computed_ms"] = static_cast<double>(callback.computed.count()) / ns_per_ms;
  result["response"] = to_python(callback.response);
  result["worst_response_ns"] = callback.response.max.count();
  result["start_delay"] = to_python(callback.start_delay);
  result["data_age"] = to_python(callback.data_age);
  result["sample_age"] = to_python(callback.sample_age);
  return result;
}

nb::dict to_python(const CoreResult& core, nanoseconds duration) {
  nb::dict result;
  result["cpu"] = core.cpu;
  result["host"] = core.host.empty() ? nb::none() : nb::object(nb::str(core.host.c_str()));
  result["busy_ms"] = static_cast<double>(core.busy.count()) / ns_per_ms;
  result["utilization"] = duration.count() == 0 ? 0.0
                                                : static_cast<double>(core.busy.count()) /
                                                      static_cast<double>(duration.count());
  result["jobs"] = core.jobs;
  result["preemptions"] = core.preemptions;
  return result;
}

nb::dict to_python(const ChainResult& chain) {
  nb::dict result;
  result["chain"] = chain.name;
  result["max_latency_us"] =
      chain.max_latency.count() == 0 ? nb::none() : nb::cast(us(chain.max_latency));
  result["violations"] = chain.violations;
  result["latency"] = to_python(chain.latency);
  result["age"] = to_python(chain.age);
  result["reaction"] = to_python(chain.reaction);
  return result;
}

template <typename Items, typename... Arguments>
nb::list to_list(const Items& items, Arguments... arguments) {
  nb::list list;
  for (const auto& item : items) {
    list.append(to_python(item, arguments...));
  }
  return list;
}

nb::dict to_python(const Result& simulated) {
  nb::dict result;
  result["schema_version"] = schema_version;
  result["application"] = simulated.application;
  result["duration_ms"] = static_cast<double>(simulated.duration.count()) / ns_per_ms;
  result["duration_from"] = simulated.duration_from;
  result["interrupted"] = simulated.interrupted;
  result["seed"] = simulated.seed;
  result["execution"] = simulated.drawn ? "drawn" : "worst";
  result["overheads"] = simulated.overheads;
  result["jobs"] = simulated.jobs;
  result["misses"] = simulated.misses;
  result["callbacks"] = to_list(simulated.callbacks);
  result["cores"] = to_list(simulated.cores, simulated.duration);
  result["chains"] = to_list(simulated.chains);
  return result;
}

ExecutionTimes parse_execution(const std::string& execution) {
  if (execution != "worst" && execution != "drawn") {
    const std::string message = "execution must be 'worst' or 'drawn', not '" + execution + "'";
    throw nb::value_error(message.c_str());
  }
  return execution == "worst" ? ExecutionTimes::worst : ExecutionTimes::drawn;
}

// Python's signals and the caller's progress, from the thread that simulates without the lock.
struct Looking {
  nb::object progress;
  std::exception_ptr error;

  bool operator()(double share) {
    const nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) {
        throw nb::python_error();
      }
      return progress.is_none() || nb::cast<bool>(progress(share));
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }
};

template <typename Body>
auto without_lock(const Body& body) {
  const nb::gil_scoped_release release;
  return body();
}

nb::dict run(const std::string& json, std::int64_t duration_ns, std::uint64_t seed,
             const std::string& execution, const std::string& trace, bool percentiles,
             const nb::object& progress) {
  Looking looking{.progress = progress, .error = {}};
  Options options{.duration = nanoseconds{duration_ns},
                  .seed = seed,
                  .execution = parse_execution(execution),
                  .trace = trace,
                  .trace_attributes = {{"application", json}},
                  .percentiles = percentiles,
                  .progress = [&looking](double share) { return looking(share); }};
  const Result result = without_lock([&] { return simulate(application::parse(json), options); });
  if (looking.error) {
    std::rethrow_exception(looking.error);
  }
  return to_python(result);
}

// What became of one application of many.
using Outcome = std::pair<std::optional<Result>, std::string>;

nb::list run_many(const std::vector<std::string>& documents, std::int64_t duration_ns,
                  std::uint64_t seed, const std::string& execution, bool percentiles) {
  const Options options{.duration = nanoseconds{duration_ns},
                        .seed = seed,
                        .execution = parse_execution(execution),
                        .percentiles = percentiles};
  std::vector<Outcome> outcomes;
  outcomes.reserve(documents.size());
  {
    const nb::gil_scoped_release release;
    for (const std::string& json : documents) {
      try {
        outcomes.emplace_back(simulate(application::parse(json), options), "");
      } catch (const std::exception& error) {
        outcomes.emplace_back(std::nullopt, error.what());
      }
    }
  }
  nb::list results;
  for (const auto& [result, error] : outcomes) {
    if (result) {
      results.append(to_python(*result));
    } else {
      nb::dict failed;
      failed["error"] = error;
      results.append(failed);
    }
  }
  return results;
}

}  // namespace

void bind(nb::module_& module) {
  module.def("simulate", &run, "json"_a, "duration_ns"_a = 0, "seed"_a = 1, "execution"_a = "worst",
             "trace"_a = "", "percentiles"_a = true, "progress"_a = nb::none(),
             "Plays an application (its flat JSON) in virtual time and returns the document of\n"
             "`takt simulate --json`. duration_ns 0: two hyperperiods and the largest offset, at\n"
             "most 60 s. progress(share) is called now and then; False ends the simulation there.\n"
             "Raises Error for what an executor would refuse, OSError for the trace.");
  module.def("simulate_many", &run_many, "documents"_a, "duration_ns"_a = 0, "seed"_a = 1,
             "execution"_a = "worst", "percentiles"_a = false,
             "The same for many applications, one after the other, without the interpreter lock.\n"
             "One that is refused gives {'error': why} in its place.");
  module.def(
      "hyperperiod",
      [](const std::string& json) -> std::optional<std::int64_t> {
        const auto found = without_lock([&] { return hyperperiod(application::parse(json)); });
        return found ? std::optional{found->count()} : std::nullopt;
      },
      "json"_a,
      "The least common multiple of all periods in ns; None when there are none, or when it does\n"
      "not fit into 64 bits.");
}

}  // namespace takt::sim
