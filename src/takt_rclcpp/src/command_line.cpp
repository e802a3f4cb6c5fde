// SPDX-License-Identifier: Apache-2.0
//
// Arguments that a program need not know: they are read from the process's own command line.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "takt/rclcpp/scheduling_executor.hpp"
#include "takt/sched/error.hpp"

namespace takt::rclcpp {
namespace {

std::vector<std::string> own_arguments() {
  std::ifstream file{"/proc/self/cmdline", std::ios::binary};
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) {
    arguments.push_back(argument);
  }
  return arguments;
}

// The value behind `name`, or after its "="; empty: it is not there.
std::string value_of(const std::vector<std::string>& arguments, const std::string& name) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(name + "=")) {
      return arguments[i].substr(name.size() + 1);
    }
    if (arguments[i] == name) {
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
        throw sched::ScheduleError("the command line", name + " has no file behind it",
                                   "write " + name + " FILE");
      }
      return arguments[i + 1];
    }
  }
  return {};
}

// What begins like ours and is none: a slip of the hand would leave callbacks without their timing.
void refuse_unknown(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (name.starts_with("--takt-") && name != "--takt-timing" && name != "--takt-record") {
      throw sched::ScheduleError("the command line", "unknown argument " + name,
                                 "known ones: --takt-timing FILE, --takt-record FILE");
    }
  }
}

}  // namespace

Options Options::of_command_line() {
  const std::vector<std::string> arguments = own_arguments();
  refuse_unknown(arguments);
  Options options;
  options.scheduling.trace = value_of(arguments, "--takt-record");
  const std::string timing = value_of(arguments, "--takt-timing");
  if (!timing.empty()) {
    const TimingFile file = load_timing(timing);
    if (file.policy) {
      options.scheduling.policy = file.policy;
    }
    options.scheduling.cpus = file.cpus;
    options.timing = file.rule;
  }
  return options;
}

}  // namespace takt::rclcpp
