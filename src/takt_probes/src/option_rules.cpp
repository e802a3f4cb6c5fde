// SPDX-License-Identifier: Apache-2.0
#include "option_rules.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <ranges>

#include "takt/probe/failure.hpp"
#include "takt/probe/supply_loop.hpp"
#include "takt/probe/text_head.hpp"

namespace takt::probe {
namespace {

constexpr std::size_t most_payload_bytes = std::size_t{1} << 30;

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
  const auto& fixed = capability.fixed_payload_bytes;
  if (!fixed.empty() && std::ranges::find(fixed, options.payload_bytes) == fixed.end()) {
    std::vector<std::string> sizes;
    std::ranges::transform(fixed, std::back_inserter(sizes),
                           [](std::size_t size) { return std::to_string(size); });
    const std::string only = listed(sizes);
    refuse("--payload-bytes", given, where + only + " bytes only", "give one of them");
  }
  const auto most = capability.max_payload_bytes.value_or(most_payload_bytes);
  if (options.payload_bytes > most) {
    refuse("--payload-bytes", given, where + "at most " + std::to_string(most) + " bytes",
           "give a smaller payload or choose another transport");
  }
}

/// What is given for the options that a capability decides on, by option.
std::map<std::string, std::string> given_of(const Options& options) {
  return {{"wait", std::string{name_of(options.wait)}},
          {"executor", options.executor},
          {"content", std::string{name_of(options.content)}},
          {"allocator", std::string{name_of(options.allocator)}},
          {"reliability", std::string{name_of(options.reliability)}},
          {"durability", std::string{name_of(options.durability)}},
          {"history", std::string{name_of(options.history)}},
          {"policy", std::string{to_string(options.policy)}}};
}

/// The values to choose from, by option; none: the default is the only one.
std::map<std::string, std::vector<std::string>> choices_of(const Capability& capability) {
  const auto names = [](const auto& values) {
    std::vector<std::string> found;
    std::ranges::transform(values, std::back_inserter(found),
                           [](auto value) { return std::string{name_of(value)}; });
    return found;
  };
  std::map<std::string, std::vector<std::string>> choices{
      {"wait", names(capability.waits)},
      {"executor", capability.executors},
      {"content", names(capability.contents)},
      {"allocator", names(capability.allocators)},
      {"reliability", names(std::vector{Reliability::reliable, Reliability::best_effort})},
      {"durability", names(capability.durabilities)},
      {"history", names(capability.histories)}};
  for (const auto& [option, why] : capability.without) {
    choices[option].clear();
  }
  return choices;
}

/// Fills in the default executor, and checks all values to choose from, alone and together.
void check_choices(Options& options, const Capability& capability) {
  if (options.executor.empty() && !capability.executors.empty()) {
    options.executor = capability.executors.front();
  }
  const auto given = given_of(options);
  const auto presets = given_of({});
  const std::string way = std::string{name_of(options.kind)} + " over " + options.transport;
  for (const auto& [option, there] : choices_of(capability)) {
    const auto value = given.find(option);
    if (value == given.end() || value->second == presets.at(option) ||
        std::ranges::find(there, value->second) != there.end()) {
      continue;
    }
    const auto why = capability.without.find(option);
    refuse("--" + option, value->second,
           why != capability.without.end() ? why->second : way + " does not have it",
           there.empty() ? "leave it away" : "choose one of " + listed(there));
  }
  for (const Exclusion& one : capability.excluded) {
    if (std::ranges::all_of(
            one.values, [&](const auto& each) { return given.at(each.first) == each.second; })) {
      const auto& [option, value] = *one.values.rbegin();
      refuse("--" + option, value, one.why,
             "give another --" + listed(std::views::keys(one.values), " or --"));
    }
  }
}

void check_content(const Options& options) {
  if (options.content == Content::string && options.payload_bytes < text_head_bytes) {
    const std::string least = std::to_string(text_head_bytes);
    refuse("--payload-bytes", std::to_string(options.payload_bytes),
           "the text of a string holds the head, too, which takes " + least + " bytes",
           "give at least " + least);
  }
}

void check_dds(const Options& options, std::string_view stack, const Capability& capability) {
  if (!options.dds_priority) {
    return;
  }
  if (!capability.dds) {
    refuse("--dds-priority", to_text(*options.dds_priority),
           std::string{name_of(options.kind)} + " of probe_" + std::string{stack} +
               " starts no threads of a DDS",
           "leave it away");
  }
  if (!options.real_time()) {
    refuse("--dds-priority", to_text(*options.dds_priority), "policy other has no priorities",
           "add --policy fifo or rr");
  }
}

void check_dscp(const Options& options, std::string_view stack, const Capability& capability) {
  if (options.dscp && capability.wire.empty()) {
    refuse("--dscp", std::to_string(*options.dscp),
           options.transport + " of probe_" + std::string{stack} + " does not go from host to host",
           "leave it away");
  }
}

void check_late(const Options& options) {
  if (options.late != Late::at_once && options.kind != Kind::pingpong) {
    refuse("--late", std::string{name_of(options.late)},
           "a " + std::string{name_of(options.kind)} + " awaits no reply", "leave it away");
  }
}

void check_bus(const Options& options) {
  if (options.kind == Kind::ethercat) {
    if (options.interface.empty()) {
      throw UsageError{{.what = "--interface is missing",
                        .why = "the slaves are on one of the machine's interfaces",
                        .fix = "name it; ip link show lists them"}};
    }
  } else if (!options.interface.empty() || options.slaves != 0) {
    refuse(options.interface.empty() ? "--slaves" : "--interface",
           options.interface.empty() ? std::to_string(options.slaves) : options.interface,
           "a " + std::string{name_of(options.kind)} + " has no slaves", "leave it away");
  }
}

void check_supply(const Options& options) {
  if (options.kind != Kind::supply) {
    if (!options.gaps.empty()) {
      refuse("--gaps", options.gaps.string(),
             "a " + std::string{name_of(options.kind)} + " looks for no gaps", "leave it away");
    }
    return;
  }
  if (options.cpus.empty()) {
    throw UsageError{{.what = "--cpu is missing",
                      .why = "a supply is that of one core",
                      .fix = "name the core, such as --cpu 1"}};
  }
  check_range("--period-ns", options.period.count(), shortest_supply_period.count(),
              longest_supply_period.count());
}

}  // namespace

void refuse(const std::string& option, const std::string& given, const std::string& why,
            const std::string& fix) {
  throw UsageError{{.what = option + " " + given, .why = why, .fix = fix}};
}

void check_range(const std::string& option, std::int64_t given, std::int64_t least,
                 std::int64_t most) {
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

DdsPriority parse_dds_priority(const std::string& text) {
  DdsPriority priority;
  const char* const end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, priority.least);
  priority.most = priority.least;
  if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, priority.most);
  }
  if (read.ec != std::errc{} || read.ptr != end || priority.least < os::min_priority ||
      priority.most > os::max_priority || priority.least > priority.most) {
    refuse("--dds-priority", text, "this is no priority and no range of them",
           "give N or N-M from " + std::to_string(os::min_priority) + " to " +
               std::to_string(os::max_priority));
  }
  return priority;
}

void check_together(Options& options, std::string_view stack,
                    const std::vector<Capability>& capabilities) {
  check_scheduling(options);
  const Capability& capability = choose(options, stack, capabilities);
  check_role(options, capability);
  check_payload(options, capability);
  check_choices(options, capability);
  check_content(options);
  check_late(options);
  check_dds(options, stack, capability);
  check_dscp(options, stack, capability);
  check_bus(options);
  check_supply(options);
}

}  // namespace takt::probe
