// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <string_view>

#include "../sched/text.hpp"

namespace takt::application {
namespace {

constexpr std::string_view requests = "/_service/request";
constexpr std::string_view responses = "/_service/response";

// "a request of service '/plan'"; empty: it is a topic of no service.
std::string of_service(const std::string& topic, const char* request, const char* response) {
  const bool asks = topic.ends_with(requests);
  if (!asks && !topic.ends_with(responses)) {
    return {};
  }
  const std::size_t length = topic.size() - (asks ? requests : responses).size();
  return std::string{asks ? request : response} + " of service " +
         sched::name_text("/" + topic.substr(0, length));
}

}  // namespace

bool is_requested(const std::string& service) noexcept {
  return service.ends_with(requests);
}

std::string service_text(const std::string& service) {
  return sched::name_text(
      is_requested(service) ? "/" + service.substr(0, service.size() - requests.size()) : service);
}

std::string message_text(const std::string& topic) {
  const std::string served = of_service(topic, "a request", "a response");
  return served.empty() ? "a message of topic " + sched::name_text(topic) : served;
}

std::string messages_text(const std::string& topic) {
  const std::string served = of_service(topic, "requests", "responses");
  return served.empty() ? "messages of " + sched::name_text(topic) : served;
}

}  // namespace takt::application
