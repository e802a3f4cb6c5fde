// SPDX-License-Identifier: Apache-2.0
#include "sim_time.hpp"

#include <rcl_yaml_param_parser/parser.h>

#include <memory>
#include <regex>
#include <string_view>

#include "rcl_error.hpp"

namespace takt::detail {
namespace {

// Names of nodes in parameter files and arguments: "*" is one name, "**" any number of them, and a
// missing slash at the front is meant.
bool matches(const std::string& pattern, const std::string& node_name) {
  const std::string full = pattern.starts_with('/') ? pattern : "/" + pattern;
  std::string expression = std::regex_replace(full, std::regex{R"(/\*\*)"}, "(/\\w+)#");
  expression = std::regex_replace(expression, std::regex{R"(\*)"}, "\\w+");
  expression = std::regex_replace(expression, std::regex{"#"}, "*");
  return std::regex_match(node_name, std::regex{expression});
}

}  // namespace

bool is_sim_time_asked_for(const rcl_arguments_t& arguments, const std::string& node_name) {
  rcl_params_t* found = nullptr;
  check(rcl_arguments_get_param_overrides(&arguments, &found), "cannot read the parameters",
        "node '" + node_name + "'");
  if (found == nullptr) {
    return false;
  }
  const std::unique_ptr<rcl_params_t, decltype(&rcl_yaml_node_struct_fini)> parameters{
      found, &rcl_yaml_node_struct_fini};
  bool asked = false;
  for (std::size_t node = 0; node < parameters->num_nodes; ++node) {
    if (!matches(parameters->node_names[node], node_name)) {
      continue;
    }
    const rcl_node_params_t& of_node = parameters->params[node];
    for (std::size_t i = 0; i < of_node.num_params; ++i) {
      const rcl_variant_t& value = of_node.parameter_values[i];
      if (std::string_view{of_node.parameter_names[i]} == "use_sim_time" &&
          value.bool_value != nullptr) {
        asked = *value.bool_value;  // the last one counts
      }
    }
  }
  return asked;
}

}  // namespace takt::detail
