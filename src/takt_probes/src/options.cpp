// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>

#include "option_rules.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using std::chrono::nanoseconds;

constexpr std::int64_t longest_ns = std::int64_t{366} * 24 * 3600 * 1'000'000'000;
constexpr std::int64_t shortest_period_ns = 1000;
constexpr std::int64_t no_dscp = -1;
constexpr std::int64_t most_dscp = 63;
constexpr std::int64_t most_samples = 1'000'000'000;

template <class Enum>
using Names = std::vector<std::pair<std::string_view, Enum>>;

const Names<Kind> kinds{{"wakeup", Kind::wakeup},
                        {"timer-oneshot", Kind::timer_oneshot},
                        {"timer-cyclic", Kind::timer_cyclic},
                        {"pingpong", Kind::pingpong},
                        {"pubsub", Kind::pubsub},
                        {"ethercat", Kind::ethercat},
                        {"supply", Kind::supply}};
const Names<Role> roles{{"both", Role::both},
                        {"ping", Role::ping},
                        {"pong", Role::pong},
                        {"publisher", Role::publisher},
                        {"subscriber", Role::subscriber}};
const Names<Content> contents{{"bytes", Content::bytes}, {"string", Content::string}};
const Names<Reliability> reliabilities{{"reliable", Reliability::reliable},
                                       {"best_effort", Reliability::best_effort}};
const Names<Durability> durabilities{{"volatile", Durability::volatile_},
                                     {"transient_local", Durability::transient_local}};
const Names<History> histories{{"keep_last", History::keep_last}, {"keep_all", History::keep_all}};
const Names<Wait> waits{{"idle", Wait::idle}, {"busy", Wait::busy}};
const Names<Allocator> allocators{{"heap", Allocator::heap}, {"tlsf", Allocator::tlsf}};
const Names<Late> lates{{"at_once", Late::at_once}, {"next_cycle", Late::next_cycle}};

template <class Enum>
std::string_view name_in(const Names<Enum>& names, Enum wanted) {
  return std::ranges::find(names, wanted, &std::pair<std::string_view, Enum>::second)->first;
}

template <class Enum>
std::vector<std::string_view> names_in(const Names<Enum>& names) {
  std::vector<std::string_view> known;
  std::ranges::transform(names, std::back_inserter(known),
                         &std::pair<std::string_view, Enum>::first);
  return known;
}

template <class Enum>
Enum value_in(const Names<Enum>& names, const std::string& option, const std::string& given) {
  const auto found = std::ranges::find(names, given, &std::pair<std::string_view, Enum>::first);
  if (found == names.end()) {
    refuse(option, given, "there is no such value", "choose one of " + listed(names_in(names)));
  }
  return found->second;
}

}  // namespace

std::string_view name_of(Kind kind) {
  return name_in(kinds, kind);
}
std::string_view name_of(Role role) {
  return name_in(roles, role);
}
std::string_view name_of(Content content) {
  return name_in(contents, content);
}
std::string_view name_of(Reliability reliability) {
  return name_in(reliabilities, reliability);
}
std::string_view name_of(Durability durability) {
  return name_in(durabilities, durability);
}
std::string_view name_of(History history) {
  return name_in(histories, history);
}
std::string_view name_of(Wait wait) {
  return name_in(waits, wait);
}
std::string_view name_of(Allocator allocator) {
  return name_in(allocators, allocator);
}
std::string_view name_of(Late late) {
  return name_in(lates, late);
}

std::string to_text(const DdsPriority& priority) {
  std::string text = std::to_string(priority.least);
  if (priority.most != priority.least) {
    text.append("-").append(std::to_string(priority.most));
  }
  return text;
}

std::optional<Options> parse(int argc, const char* const* argv, std::string_view stack,
                             const std::vector<Capability>& capabilities) {
  Options options;
  std::string kind;
  std::string role{name_of(options.role)};
  std::string policy{to_string(options.policy)};
  std::string allocator{name_of(options.allocator)};
  std::string dds_priority;
  std::string cpus;
  std::string content{name_of(options.content)};
  std::string reliability{name_of(options.reliability)};
  std::string durability{name_of(options.durability)};
  std::string history{name_of(options.history)};
  std::int64_t period = options.period.count();
  std::int64_t count = static_cast<std::int64_t>(options.count);
  std::int64_t payload = 0;
  std::int64_t timeout = options.timeout.count();
  std::string wait{name_of(options.wait)};
  std::string late{name_of(options.late)};
  std::int64_t start_delay = options.start_delay.count();
  std::int64_t lost_after = options.lost_after.count();
  std::int64_t time_limit = options.time_limit.count();
  std::int64_t subscribers = options.subscribers;
  std::int64_t depth = static_cast<std::int64_t>(options.depth);
  std::int64_t slaves = options.slaves;
  std::int64_t dscp = no_dscp;

  const std::string program = "probe_" + std::string{stack};
  CLI::App app{
      "Measure " + std::string{stack} + " and write the samples to a file. Durations are in ns.",
      program};
  app.footer("Example:\n  " + program + " " + std::string{name_of(capabilities.front().kind)} +
             " --transport " + capabilities.front().transport + " --role " +
             std::string{name_of(capabilities.front().roles.back())} +
             " --policy fifo --priority 80 --cpu 1 \\\n"
             "      --period-ns 1000000 --count 3000 --samples /dev/shm/example.taktsamples\n"
             "Exit code: 0 done or stopped by a signal, 1 failed, 2 wrong use.");
  bool only_capabilities = false;
  app.add_option("KIND", kind, "Kind of measurement: " + listed(names_in(kinds)));
  app.add_option("--role", role, "Role: both, ping, pong, publisher, subscriber")
      ->capture_default_str();
  app.add_option("--transport", options.transport, "Transport of messages, see --capabilities");
  app.add_option("--executor", options.executor, "Executor of callbacks, see --capabilities");
  app.add_option("--payload-bytes", payload, "Payload size in bytes, without the header fields")
      ->capture_default_str();
  app.add_option("--content", content, "Message content: bytes, string")->capture_default_str();
  app.add_option("--period-ns", period, "Period of intended start times or of the timer")
      ->capture_default_str();
  app.add_option("--timeout-ns", timeout, "Timeout of a one-shot timer")->capture_default_str();
  app.add_option("--wait", wait, "Waiting method for a one-shot timer: idle, busy")
      ->capture_default_str();
  app.add_option("--late", late, "Next ping after a late reply: at_once, next_cycle")
      ->capture_default_str();
  app.add_option("--start-delay-ns", start_delay, "Delay between ready and the first sample")
      ->capture_default_str();
  app.add_option("--count", count, "Number of samples, including the first")->capture_default_str();
  app.add_option("--policy", policy, "Scheduling policy: other, fifo, rr")->capture_default_str();
  app.add_option("--priority", options.priority, "Real-time priority for fifo and rr, 1..98")
      ->capture_default_str();
  app.add_option("--allocator", allocator, "Allocator of client library and messages: heap, tlsf")
      ->capture_default_str();
  app.add_option("--dds-priority", dds_priority,
                 "Priority of DDS threads: N; or N-M: M on the message path, N elsewhere");
  app.add_option("--dscp", dscp, "DSCP of the packets, 0 to 63; default: set by the middleware");
  app.add_option("--cpu", cpus,
                 "Pin to CPU N; N,M: ping or publisher to N, pong or subscriber to M");
  app.add_option("--lost-after-ns", lost_after, "Count a reply or a timer as lost after this time")
      ->capture_default_str();
  app.add_option("--time-limit-ns", time_limit, "Exit after this time")->capture_default_str();
  app.add_option("--subscribers", subscribers,
                 "Number of subscribers to wait for before publishing")
      ->capture_default_str();
  app.add_option("--topic", options.topic, "Topic; for udp of the raw stack: host:port")
      ->capture_default_str();
  app.add_option("--reliability", reliability, "Reliability of the QoS: reliable, best_effort")
      ->capture_default_str();
  app.add_option("--durability", durability, "Durability of the QoS: volatile, transient_local")
      ->capture_default_str();
  app.add_option("--history", history, "History of the QoS: keep_last (--depth), keep_all")
      ->capture_default_str();
  app.add_option("--depth", depth, "Depth of keep_last")->capture_default_str();
  app.add_option("--interface", options.interface, "Network interface of the slaves (ethercat)");
  app.add_option("--slaves", slaves, "Required number of slaves (ethercat); 0: any number")
      ->capture_default_str();
  app.add_option("--samples", options.samples, "Sample file to create");
  app.add_option("--gaps", options.gaps, "File of the gaps to create (supply)");
  app.add_option("--result", options.result, "Result document to write; default: standard output");
  app.add_flag("--capabilities", only_capabilities, "Print the capabilities of this probe as JSON");
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
  options.content = value_in(contents, "--content", content);
  options.durability = value_in(durabilities, "--durability", durability);
  options.history = value_in(histories, "--history", history);
  options.wait = value_in(waits, "--wait", wait);
  options.late = value_in(lates, "--late", late);
  options.allocator = value_in(allocators, "--allocator", allocator);
  const auto parsed_policy = os::parse_policy(policy);
  if (!parsed_policy) {
    refuse("--policy", policy, "there is no such value", "choose one of other, fifo, rr");
  }
  options.policy = *parsed_policy;
  if (!dds_priority.empty()) {
    options.dds_priority = parse_dds_priority(dds_priority);
  }
  if (!cpus.empty()) {
    options.cpus = parse_cpus(cpus);
  }
  if (dscp != no_dscp) {
    check_range("--dscp", dscp, 0, most_dscp);
    options.dscp = static_cast<int>(dscp);
  }
  check_range("--payload-bytes", payload, 0, std::numeric_limits<std::int64_t>::max());
  check_range("--period-ns", period, shortest_period_ns, longest_ns);
  check_range("--count", count, 1, most_samples);
  check_range("--timeout-ns", timeout, shortest_period_ns, longest_ns);
  check_range("--start-delay-ns", start_delay, 0, longest_ns);
  check_range("--lost-after-ns", lost_after, 1, longest_ns);
  check_range("--time-limit-ns", time_limit, 1, longest_ns);
  check_range("--subscribers", subscribers, 1, 1000);
  check_range("--depth", depth, 1, 1'000'000);
  check_range("--slaves", slaves, 0, 1000);
  options.payload_bytes = static_cast<std::size_t>(payload);
  options.period = nanoseconds{period};
  options.timeout = nanoseconds{timeout};
  options.start_delay = nanoseconds{start_delay};
  options.count = static_cast<std::uint64_t>(count);
  options.lost_after = nanoseconds{lost_after};
  options.time_limit = nanoseconds{time_limit};
  options.subscribers = static_cast<unsigned>(subscribers);
  options.depth = static_cast<std::size_t>(depth);
  options.slaves = static_cast<unsigned>(slaves);
  check_together(options, stack, capabilities);
  return options;
}

}  // namespace takt::probe
