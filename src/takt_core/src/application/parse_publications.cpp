// SPDX-License-Identifier: Apache-2.0
#include "parse_publications.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace takt::application {
namespace {

// A number, or a list of the least and the most.
MessageCount parse_message_count(const Json& json, const std::string& place) {
  const bool is_range = json.is_array() && json.size() == 2;
  const auto read = [&](const Json& count) {
    if (!count.is_number_integer() || count < 1 || count > most_messages) {
      Object::fail(place, "is neither a number from 1 to " + std::to_string(most_messages) +
                              " nor a list of the least and the most");
    }
    return count.get<std::int64_t>();
  };
  const MessageCount result{.least = read(is_range ? json[0] : json),
                            .most = read(is_range ? json[1] : json)};
  if (result.least > result.most) {
    Object::fail(place, "begins with the most: give the least number first");
  }
  return result;
}

std::map<std::string, MessageCount> parse_messages(const Json& json, const std::string& path,
                                                   const std::vector<std::string>& writes) {
  if (!json.is_object()) {
    Object::fail(path, "is not an object");
  }
  std::map<std::string, MessageCount> messages;
  for (const auto& [topic, count] : json.items()) {
    std::string place = path;
    place.append("/").append(topic);
    if (std::ranges::find(writes, topic) == writes.end()) {
      Object::fail(place, "is not a topic that the callback writes");
    }
    messages.emplace(topic, parse_message_count(count, place));
  }
  return messages;
}

// When a job publishes.
bool parse_publishes(Object& object) {
  const Json* const publishes = object.find("publishes");
  if (publishes == nullptr || *publishes == "end") {
    return false;
  }
  if (*publishes != "anywhere") {
    Object::fail(object.at("publishes"), "is neither 'end' nor 'anywhere'");
  }
  return true;
}

}  // namespace

void parse_publications(Object& object, Callback& callback) {
  if (const Json* messages = object.find("messages")) {
    callback.messages = parse_messages(*messages, object.at("messages"), callback.task.writes);
  }
  callback.publishes_anywhere = parse_publishes(object);
}

}  // namespace takt::application
