// SPDX-License-Identifier: Apache-2.0
//
// Arguments that a program need not know: they are read from the process's own command line, or are
// ROS parameters, which launch files and parameter files can give.
#include <rcl/arguments.h>
#include <rcl_yaml_param_parser/parser.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core_names.hpp"
#include "takt/rclcpp/scheduling_executor.hpp"
#include "takt/sched/error.hpp"

namespace takt_rclcpp {
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

// A parameter that was given to any node of the process; empty: to none. No node declares it: the
// executor is there before its nodes are.
std::string parameter(const rclcpp::Context::SharedPtr& context, const std::string& name) {
  if (context == nullptr || !context->is_valid()) {
    return {};
  }
  rcl_params_t* given = nullptr;
  if (rcl_arguments_get_param_overrides(&context->get_rcl_context()->global_arguments, &given) !=
          RCL_RET_OK ||
      given == nullptr) {
    return {};
  }
  const std::unique_ptr<rcl_params_t, void (*)(rcl_params_t*)> owned{given,
                                                                     rcl_yaml_node_struct_fini};
  for (const rcl_node_params_t& node : std::span{given->params, given->num_nodes}) {
    for (std::size_t i = 0; i < node.num_params; ++i) {
      if (std::span{node.parameter_names, node.num_params}[i] != name) {
        continue;
      }
      const char* const text = std::span{node.parameter_values, node.num_params}[i].string_value;
      if (text == nullptr) {
        throw sched::ScheduleError("the parameters", name + " is no text", "give it a file name");
      }
      return text;
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

Options Options::of_command_line(const rclcpp::Context::SharedPtr& context) {
  const std::vector<std::string> arguments = own_arguments();
  refuse_unknown(arguments);
  Options options;
  const auto file_of = [&](const std::string& argument, const std::string& name) {
    const std::string file = value_of(arguments, argument);
    return file.empty() ? parameter(context, name) : file;
  };
  options.scheduling.trace = file_of("--takt-record", "takt_record");
  const std::string timing = file_of("--takt-timing", "takt_timing");
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

}  // namespace takt_rclcpp
