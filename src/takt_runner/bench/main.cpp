// SPDX-License-Identifier: Apache-2.0
//
// bench_rcl_executor MODE [--name value]…; see usage below.
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <takt/os/idle.hpp>
#include <takt/os/thread.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

constexpr const char* usage =
    "usage: bench_rcl_executor dispatch|overhead|intra|handover|messages\n"
    "  [--executor takt|baseline0] [--cpu N] [--duration-ms N]\n"
    "  dispatch: [--callbacks N] [--subscriptions 0|1] [--priorities N] [--spread 0|1]\n"
    "            [--by-pointer 0|1]\n"
    "  overhead: [--nodes N] [--publishers SHARE] [--subscribers SHARE] [--periods-ms N,N,…]\n"
    "  intra:    [--payload BYTES] [--same-thread 0|1]\n"
    "  messages: [--payload BYTES]\n"
    "example: bench_rcl_executor dispatch --executor baseline0 --callbacks 50 --cpu 1\n";

std::set<std::string> shortfalls_seen;

template <typename Value>
Value number(const std::string& text, Value least) {
  std::istringstream stream{text};
  Value value{};
  if (!(stream >> value) || !stream.eof() || value < least) {
    throw std::invalid_argument{"'" + text + "' is not a number that is possible here"};
  }
  return value;
}

std::vector<int> numbers(const std::string& text) {
  std::istringstream stream{text};
  std::vector<int> values;
  for (std::string piece; std::getline(stream, piece, ',');) values.push_back(number(piece, 1));
  if (values.empty()) throw std::invalid_argument{"no number where some are needed"};
  return values;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  if (argc < 2) throw std::invalid_argument{"name a mode"};
  settings.mode = argv[1];
  const std::map<std::string, std::function<void(const std::string&)>> options{
      {"--executor",
       [&](const auto& text) {
         if (text != "takt" && text != "baseline0") {
           throw std::invalid_argument{"there is no executor '" + text + "'"};
         }
         settings.executor = text;
       }},
      {"--cpu", [&](const auto& text) { settings.cpu = number(text, 0); }},
      {"--duration-ms", [&](const auto& text) { settings.duration = number(text, 1) * 1ms; }},
      {"--callbacks", [&](const auto& text) { settings.callbacks = number(text, 1); }},
      {"--subscriptions", [&](const auto& text) { settings.subscriptions = number(text, 0) != 0; }},
      {"--priorities", [&](const auto& text) { settings.priorities = number(text, 1); }},
      {"--spread", [&](const auto& text) { settings.spread = number(text, 0) != 0; }},
      {"--by-pointer", [&](const auto& text) { settings.by_pointer = number(text, 0) != 0; }},
      {"--nodes", [&](const auto& text) { settings.nodes = number(text, 1); }},
      {"--publishers", [&](const auto& text) { settings.publishers = number(text, 0.0); }},
      {"--subscribers", [&](const auto& text) { settings.subscribers = number(text, 0.0); }},
      {"--periods-ms", [&](const auto& text) { settings.periods_ms = numbers(text); }},
      {"--payload", [&](const auto& text) { settings.payload = number(text, std::size_t{1}); }},
      {"--same-thread", [&](const auto& text) { settings.same_thread = number(text, 0) != 0; }}};
  for (int i = 2; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc) {
      throw std::invalid_argument{std::string{"wrong option or no value: "} + argv[i]};
    }
    option->second(argv[i + 1]);
  }
  return settings;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

int run(int argc, char** argv) {
  const std::map<std::string, void (*)(const Settings&)> modes{{"dispatch", dispatch},
                                                               {"overhead", overhead},
                                                               {"intra", intra},
                                                               {"handover", handover},
                                                               {"messages", messages}};
  Settings settings;
  try {
    settings = parse(argc, argv);
    if (!modes.contains(settings.mode)) throw std::invalid_argument{"there is no such mode"};
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "bench_rcl_executor: %s\n%s", error.what(), usage);
    return 2;
  }
  try {
    // For baselines and executors alike, as the executor in real time has it.
    const os::NoDeepIdle no_deep_idle;
    if (no_deep_idle.shortfall()) note_shortfalls({*no_deep_idle.shortfall()});
    modes.at(settings.mode)(settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_rcl_executor: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace

void note_shortfalls(const os::Shortfalls& shortfalls) {
  for (const os::Shortfall& shortfall : shortfalls) {
    shortfalls_seen.insert(shortfall.what + ": " + shortfall.why);
  }
}

void print_document(const Settings& settings, const std::string& figures) {
  std::string shortfalls;
  for (const std::string& shortfall : shortfalls_seen) {
    shortfalls += (shortfalls.empty() ? "" : ", ") + quoted(shortfall);
  }
  std::printf(
      "{\"schema_version\": 1, \"bench\": \"%s\", \"executor\": \"%s\", \"cpu\": %d, "
      "\"shortfalls\": [%s], %s}\n",
      settings.mode.c_str(), settings.executor.c_str(), settings.cpu, shortfalls.c_str(),
      figures.c_str());
}

void stay_on(int cpu) {
  note_shortfalls(os::apply({.cpus = {cpu}}));
}

}  // namespace takt::bench

int main(int argc, char** argv) {
  return takt::bench::run(argc, argv);
}
