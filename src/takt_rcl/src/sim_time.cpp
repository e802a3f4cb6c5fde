// SPDX-License-Identifier: Apache-2.0
#include "sim_time.hpp"

#include <rcl_yaml_param_parser/parser.h>

#include <cctype>
#include <memory>
#include <string_view>

#include "rcl_error.hpp"

namespace takt::detail {
namespace {

bool is_of_name(char character) noexcept {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

// Names of nodes in parameter files and arguments: "*" is one name or a part of it, "/**" any
// number of them. By hand, because <regex> alone would compile longer than half of this package.
bool matches(std::string_view pattern, std::string_view name) noexcept {
  const bool any_number = pattern.starts_with("/**");
  if (any_number && matches(pattern.substr(3), name)) {
    return true;
  }
  if (any_number ? name.starts_with('/') : pattern.starts_with('*')) {
    for (std::size_t end = any_number ? 1 : 0; end < name.size() && is_of_name(name[end]); ++end) {
      if (matches(any_number ? pattern : pattern.substr(1), name.substr(end + 1))) {
        return true;
      }
    }
    return false;
  }
  if (pattern.empty() || name.empty() || pattern.front() != name.front()) {
    return pattern.empty() && name.empty();
  }
  return matches(pattern.substr(1), name.substr(1));
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
    const std::string pattern = parameters->node_names[node];
    // A missing slash at the front is meant.
    if (!matches(pattern.starts_with('/') ? pattern : "/" + pattern, node_name)) {
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
