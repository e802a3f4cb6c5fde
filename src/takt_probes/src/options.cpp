// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>

#include "takt/probe/failure.hpp"
#include "takt/probe/json.hpp"

namespace takt::probe {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t longest_ns = std::int64_t{366} * 24 * 3600 * 1'000'000'000;
constexpr std::int64_t shortest_period_ns = 1000;
constexpr std::uint64_t most_samples = 1'000'000'000;
constexpr std::size_t most_payload_bytes = std::size_t{1} << 30;

template <class Enum>
using Names = std::vector<std::pair<std::string_view, Enum>>;

const Names<Kind> kinds{
    {"wakeup", Kind::wakeup}, {"pingpong", Kind::pingpong}, {"pubsub", Kind::pubsub}};
const Names<Role> roles{{"both", Role::both},
                        {"ping", Role::ping},
                        {"pong", Role::pong},
                        {"publisher", Role::publisher},
                        {"subscriber", Role::subscriber}};
const Names<Reliability> reliabilities{{"reliable", Reliability::reliable},
                                       {"best_effort", Reliability::best_effort}};

template <class Enum>
std::string_view name_in(const Names<Enum>& names, Enum wanted) {
  return std::ranges::find(names, wanted, &std::pair<std::string_view, Enum>::second)->first;
}

template <class Range>
std::string listed(const Range& names) {
  std::string text;
  for (const auto& name : names) {
    text += (text.empty() ? "" : ", ") + std::string{name};
  }
  return text;
}

[[noreturn]] void refuse(const std::string& option, const std::string& given,
                         const std::string& why, const std::string& fix) {
  throw UsageError{{.what = option + " " + given, .why = why, .fix = fix}};
}

template <class Enum>
Enum value_in(const Names<Enum>& names, const std::string& option, const std::string& given) {
  const auto found = std::ranges::find(names, given, &std::pair<std::string_view, Enum>::first);
  if (found == names.end()) {
    std::vector<std::string_view> known;
    std::ranges::transform(names, std::back_inserter(known),
                           &std::pair<std::string_view, Enum>::first);
    refuse(option, given, "there is no such value", "choose one of " + listed(known));
  }
  return found->second;
}

template <class Number>
void check_range(const std::string& option, Number given, Number least, Number most) {
  if (given < least || given > most) {
    refuse(option, std::to_string(given), "the value is out of range",
           "give one from " + std::to_string(least) + " to " + std::to_string(most));
  }
}

std::vector<int> parse_cpus(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    const auto last = sysconf(_SC_NPROCESSORS_CONF) - 1;
    refuse("--cpu", text, why, "give N or N,M with CPUs from 0 to " + std::to_string(last));
  };
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int cpu = -1;
    const auto [next, error] = std::from_chars(at, end, cpu);
    if (error != std::errc{} || cpu < 0) {
      wrong("this is not a list of CPUs");
    }
    if (cpu >= sysconf(_SC_NPROCESSORS_CONF)) {
      wrong("this machine has no CPU " + std::to_string(cpu));
    }
    cpus.push_back(cpu);
    if (next == end) {
      break;
    }
    if (*next != ',' || cpus.size() == 2) {
      wrong("there are two roles at most");
    }
    at = next + 1;
  }
  return cpus;
}

void check_scheduling(const Options& options) {
  const std::string given = std::to_string(options.priority);
  if (!options.real_time() && options.priority != 0) {
    refuse("--priority", given, "policy other has no priorities", "add --policy fifo or rr");
  }
  if (options.real_time() &&
      (options.priority < os::min_priority || options.priority > os::max_priority)) {
    refuse("--priority", given,
           "policy " + std::string{to_string(options.policy)} + " needs a priority in its range",
           "give one from " + std::to_string(os::min_priority) + " to " +
               std::to_string(os::max_priority));
  }
}

/// Finds what the stack can do of this kind, and fills in the default transport.
const Capability& choose(Options& options, std::string_view stack,
                         const std::vector<Capability>& capabilities) {
  std::vector<std::string> kinds_here;
  std::vector<std::string> transports;
  for (const Capability& capability : capabilities) {
    if (kinds_here.empty() || kinds_here.back() != name_of(capability.kind)) {
      kinds_here.emplace_back(name_of(capability.kind));
    }
    if (capability.kind == options.kind) {
      transports.push_back(capability.transport);
    }
  }
  if (transports.empty()) {
    refuse("KIND", std::string{name_of(options.kind)},
           "probe_" + std::string{stack} + " does not have it",
           "choose one of " + listed(kinds_here));
  }
  if (options.transport.empty()) {
    options.transport = transports.front();
  }
  for (const Capability& capability : capabilities) {
    if (capability.kind == options.kind && capability.transport == options.transport) {
      return capability;
    }
  }
  refuse("--transport", options.transport,
         "there is no such transport for " + std::string{name_of(options.kind)},
         "choose one of " + listed(transports));
}

void check_role(const Options& options, const Capability& capability) {
  std::vector<std::string_view> allowed;
  std::ranges::transform(capability.roles, std::back_inserter(allowed),
                         [](Role role) { return name_of(role); });
  if (capability.both_too) {
    allowed.push_back(name_of(Role::both));
  }
  if (std::ranges::find(allowed, name_of(options.role)) == allowed.end()) {
    refuse("--role", std::string{name_of(options.role)},
           std::string{name_of(options.kind)} + " over " + options.transport +
               " is not started like that",
           "give --role " + listed(allowed) +
               (capability.roles.size() > 1 ? ", one process each in this order" : ""));
  }
  if (!records(options.role) && !options.samples.empty()) {
    refuse("--samples", options.samples.string(),
           "a " + std::string{name_of(options.role)} + " records nothing", "leave it away");
  }
  if (options.role == Role::both && options.subscribers != 1) {
    refuse("--subscribers", std::to_string(options.subscribers),
           "one process with all roles has one subscriber", "leave it away");
  }
}

void check_payload(const Options& options, const Capability& capability) {
  const std::string given = std::to_string(options.payload_bytes);
  const std::string where =
      std::string{name_of(options.kind)} + " over " + options.transport + " carries ";
  if (capability.fixed_payload_bytes && options.payload_bytes != *capability.fixed_payload_bytes) {
    const std::string only = std::to_string(*capability.fixed_payload_bytes);
    refuse("--payload-bytes", given, where + only + " bytes only", "give " + only);
  }
  const auto most = capability.max_payload_bytes.value_or(most_payload_bytes);
  if (options.payload_bytes > most) {
    refuse("--payload-bytes", given, where + "at most " + std::to_string(most) + " bytes",
           "give a smaller payload or choose another transport");
  }
}

}  // namespace

std::string_view name_of(Kind kind) {
  return name_in(kinds, kind);
}
std::string_view name_of(Role role) {
  return name_in(roles, role);
}
std::string_view name_of(Reliability reliability) {
  return name_in(reliabilities, reliability);
}

std::optional<Options> parse(int argc, const char* const* argv, std::string_view stack,
                             const std::vector<Capability>& capabilities) {
  Options options;
  std::string kind;
  std::string role{name_of(options.role)};
  std::string policy{to_string(options.policy)};
  std::string cpus;
  std::string reliability{name_of(options.reliability)};
  std::int64_t period = options.period.count();
  std::int64_t count = static_cast<std::int64_t>(options.count);
  std::int64_t payload = 0;
  std::int64_t lost_after = options.lost_after.count();
  std::int64_t time_limit = options.time_limit.count();
  std::int64_t subscribers = options.subscribers;
  std::int64_t depth = static_cast<std::int64_t>(options.depth);

  const std::string program = "probe_" + std::string{stack};
  CLI::App app{"Measures " + std::string{stack} +
                   ": takes samples of one kind and writes them down. Durations are in ns.",
               program};
  app.footer("Example:\n  " + program + " " + std::string{name_of(capabilities.front().kind)} +
             " --transport " + capabilities.front().transport + " --role " +
             std::string{name_of(capabilities.front().roles.back())} +
             " --policy fifo --priority 80 --cpu 1 \\\n"
             "      --period-ns 1000000 --count 3000 --samples /dev/shm/example.taktsamples\n"
             "Exit code: 0 done or stopped by a signal, 1 failed, 2 wrong use.");
  bool only_capabilities = false;
  app.add_option("KIND", kind, "What to measure: wakeup, pingpong, pubsub");
  app.add_option("--role", role, "both, ping, pong, publisher, subscriber")->capture_default_str();
  app.add_option("--transport", options.transport, "How messages travel, see --capabilities");
  app.add_option("--payload-bytes", payload, "Payload without the header fields")
      ->capture_default_str();
  app.add_option("--period-ns", period, "Distance of two intended start times")
      ->capture_default_str();
  app.add_option("--count", count, "Samples to take, the first one included")
      ->capture_default_str();
  app.add_option("--policy", policy, "other, fifo, rr")->capture_default_str();
  app.add_option("--priority", options.priority, "1..98 for fifo and rr")->capture_default_str();
  app.add_option("--cpu", cpus, "N, or N,M: ping or publisher on N, pong or subscriber on M");
  app.add_option("--lost-after-ns", lost_after, "A reply later than this is lost")
      ->capture_default_str();
  app.add_option("--time-limit-ns", time_limit, "The process ends itself after this time")
      ->capture_default_str();
  app.add_option("--subscribers", subscribers, "Subscribers that the publisher waits for")
      ->capture_default_str();
  app.add_option("--topic", options.topic, "Topic, or host:port for udp of the raw stack")
      ->capture_default_str();
  app.add_option("--reliability", reliability, "reliable, best_effort")->capture_default_str();
  app.add_option("--depth", depth, "History depth")->capture_default_str();
  app.add_option("--samples", options.samples, "The sample file to create");
  app.add_option("--result", options.result, "Where the result document goes; default: stdout");
  app.add_flag("--capabilities", only_capabilities, "Print what this probe can do as JSON");
  for (CLI::Option* option : app.get_options()) {
    option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return {};
  } catch (const CLI::ParseError& error) {
    throw UsageError{{.what = "the command line was not understood",
                      .why = error.what(),
                      .fix = "see " + program + " --help"}};
  }
  if (only_capabilities) {
    std::cout << describe(stack, capabilities) << '\n';
    return {};
  }
  if (kind.empty()) {
    throw UsageError{{.what = "KIND is missing",
                      .why = "without it there is nothing to measure",
                      .fix = "see " + program + " --help"}};
  }

  options.kind = value_in(kinds, "KIND", kind);
  options.role = value_in(roles, "--role", role);
  options.reliability = value_in(reliabilities, "--reliability", reliability);
  const auto parsed_policy = os::parse_policy(policy);
  if (!parsed_policy) {
    refuse("--policy", policy, "there is no such value", "choose one of other, fifo, rr");
  }
  options.policy = *parsed_policy;
  if (!cpus.empty()) {
    options.cpus = parse_cpus(cpus);
  }
  check_range<std::int64_t>("--payload-bytes", payload, 0, most_payload_bytes);
  check_range<std::int64_t>("--period-ns", period, shortest_period_ns, longest_ns);
  check_range<std::int64_t>("--count", count, 1, most_samples);
  check_range<std::int64_t>("--lost-after-ns", lost_after, 1, longest_ns);
  check_range<std::int64_t>("--time-limit-ns", time_limit, 1, longest_ns);
  check_range<std::int64_t>("--subscribers", subscribers, 1, 1000);
  check_range<std::int64_t>("--depth", depth, 1, 1'000'000);
  options.payload_bytes = static_cast<std::size_t>(payload);
  options.period = nanoseconds{period};
  options.count = static_cast<std::uint64_t>(count);
  options.lost_after = nanoseconds{lost_after};
  options.time_limit = nanoseconds{time_limit};
  options.subscribers = static_cast<unsigned>(subscribers);
  options.depth = static_cast<std::size_t>(depth);
  check_scheduling(options);
  const Capability& capability = choose(options, stack, capabilities);
  check_role(options, capability);
  check_payload(options, capability);
  return options;
}

std::string describe(std::string_view stack, const std::vector<Capability>& capabilities) {
  JsonWriter json;
  json.open_object().field("stack", stack).key("capabilities").open_array();
  const auto optional_field = [&](std::string_view key, std::optional<std::size_t> bytes) {
    json.key(key);
    bytes ? json.value(*bytes) : json.null();
  };
  for (const Capability& capability : capabilities) {
    json.open_object()
        .field("kind", name_of(capability.kind))
        .field("transport", capability.transport)
        .key("roles")
        .open_array();
    for (const Role role : capability.roles) {
      json.value(name_of(role));
    }
    json.close_array();
    optional_field("fixed_payload_bytes", capability.fixed_payload_bytes);
    optional_field("max_payload_bytes", capability.max_payload_bytes);
    json.close_object();
  }
  return json.close_array().close_object().text();
}

}  // namespace takt::probe
