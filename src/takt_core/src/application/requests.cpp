// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <string_view>

#include "../sched/text.hpp"

namespace takt::application {
namespace {

constexpr std::string_view requests = "/_service/request";

}  // namespace

bool is_requested(const std::string& service) noexcept {
  return service.ends_with(requests);
}

std::string service_text(const std::string& service) {
  return sched::name_text(
      is_requested(service) ? "/" + service.substr(0, service.size() - requests.size()) : service);
}

}  // namespace takt::application
