// SPDX-License-Identifier: Apache-2.0
//
// app_runner APP.json --approach takt|baseline0|baseline1 --duration-ns N --trace FILE [--seed S]
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <takt/application/parse.hpp>
#include <takt/sched/error.hpp>

#include "settings.hpp"

namespace takt::runner {
namespace {

constexpr const char* usage =
    "usage: app_runner APP.json --approach takt|baseline0|baseline1 --duration-ns N\n"
    "  --trace FILE [--seed N]\n"
    "APP.json is the flat form of an application, as ./takt execute writes it.\n";

using Approach = void (*)(const Run&, os::StopFlag&);
const std::map<std::string, Approach> approaches{
    {"takt", run_takt}, {"baseline0", run_baseline0}, {"baseline1", run_baseline1}};

// Wrong use, or an application that cannot be run at all: exit code 2.
class WrongUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class Value>
Value number(const std::string& option, const std::string& text, Value least) {
  std::istringstream stream{text};
  Value value{};
  if (text.starts_with('-') || !(stream >> value) || !stream.eof() || value < least) {
    throw WrongUse{option + ": '" + text + "' is not a number that is possible here"};
  }
  return value;
}

Settings parse_arguments(int argc, char** argv) {
  Settings settings;
  const std::map<std::string, std::function<void(const std::string&, const std::string&)>> options{
      {"--approach", [&](const auto&, const auto& text) { settings.approach = text; }},
      {"--duration-ns",
       [&](const auto& name, const auto& text) {
         settings.duration = nanoseconds{number<std::int64_t>(name, text, 1)};
       }},
      {"--trace", [&](const auto&, const auto& text) { settings.trace = text; }},
      {"--seed", [&](const auto& name, const auto& text) {
         settings.seed = number<std::uint64_t>(name, text, 0);
       }}};
  if (argc < 2) throw WrongUse{"which application?"};
  settings.application_file = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc) {
      throw WrongUse{std::string{"wrong option or no value: "} + argv[i]};
    }
    option->second(option->first, argv[i + 1]);
  }
  if (!approaches.contains(settings.approach)) {
    throw WrongUse{"--approach: there is no '" + settings.approach + "'"};
  }
  if (settings.duration.count() == 0) throw WrongUse{"--duration-ns is missing"};
  if (settings.trace.empty()) throw WrongUse{"--trace is missing"};
  return settings;
}

// How much of the time the kernel lets real-time threads have, for who explains a trace.
std::string real_time_share() {
  const auto value = [](const char* name) {
    std::ifstream file{std::string{"/proc/sys/kernel/sched_rt_"} + name};
    std::int64_t number = -1;
    file >> number;
    return number;
  };
  const std::int64_t runtime = value("runtime_us");
  const std::int64_t period = value("period_us");
  if (runtime < 0 || period <= 0) return "all";
  return std::to_string(runtime / 1000) + " of " + std::to_string(period / 1000) + " ms";
}

Run make_run(int argc, char** argv) {
  Run run{.settings = parse_arguments(argc, argv)};
  std::ifstream file{run.settings.application_file};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file) throw WrongUse{run.settings.application_file.string() + " cannot be read"};
  run.application = application::parse(text);
  run.attributes = {{"application", text},
                    {"rt_share", real_time_share()},
                    {"approach", run.settings.approach},
                    {"seed", std::to_string(run.settings.seed)},
                    {"duration_ns", std::to_string(run.settings.duration.count())}};
  return run;
}

int run_all(int argc, char** argv) {
  try {
    const Run run = make_run(argc, argv);
    os::StopFlag stop;
    const os::StopOnSignal on_signal{stop};
    // Whoever started it asked for SIGKILL meanwhile; this is kinder to the trace and to /dev/shm.
    os::end_with_parent(SIGTERM);
    approaches.at(run.settings.approach)(run, stop);
    return 0;
  } catch (const WrongUse& error) {
    std::fprintf(stderr, "app_runner: %s\n%s", error.what(), usage);
    return 2;
  } catch (const application::ParseError& error) {
    std::fprintf(stderr, "app_runner: %s\n", error.what());
    return 2;
  } catch (const sched::ScheduleError& error) {
    std::fprintf(stderr, "app_runner: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "app_runner: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace takt::runner

int main(int argc, char** argv) {
  return takt::runner::run_all(argc, argv);
}
