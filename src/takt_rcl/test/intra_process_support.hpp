// SPDX-License-Identifier: Apache-2.0
//
// One context with a node and a topic of its own, whose messages go by pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <takt_interfaces/msg/sample.hpp>
#include <utility>

#include "support.hpp"

namespace takt::test {

using Sample = takt_interfaces::msg::Sample;

inline std::unique_ptr<Sample> numbered(std::uint64_t number) {
  auto sample = std::make_unique<Sample>();
  sample->sequence = number;
  return sample;
}

struct Local {
  explicit Local(const std::string& name, QoS qos_of_all = QoS{10})
      : topic{unique_topic(name)}, qos{qos_of_all} {}

  template <class... More>
  auto subscribe(More... more) {
    return node.create_subscription<Sample>(topic, qos, std::move(more)...);
  }
  auto publisher() { return node.create_publisher<Sample>(topic, qos); }

  std::string topic;
  QoS qos;
  Context context;
  Node node{context, "local"};
};

}  // namespace takt::test
