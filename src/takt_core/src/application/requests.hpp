// SPDX-License-Identifier: Apache-2.0
//
// Services whose requests are messages, besides those of clients that wait.
#pragma once

#include <string>

#include "takt/application/application.hpp"

namespace takt::application {

// Whether others request the service of this name without a wait.
[[nodiscard]] bool is_requested(const std::string& service) noexcept;

// The service as people know it, in quotes: not by the topic of its requests.
[[nodiscard]] std::string service_text(const std::string& service);

// One message of a topic as people know it, and several: those of services are requests and
// responses.
[[nodiscard]] std::string message_text(const std::string& topic);
[[nodiscard]] std::string messages_text(const std::string& topic);

}  // namespace takt::application
