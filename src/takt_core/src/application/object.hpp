// SPDX-License-Identifier: Apache-2.0
//
// An object of a JSON document for a parser: typed members by name, and every error with its path
// (RFC 6901).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../sched/text.hpp"
#include "takt/application/parse.hpp"

namespace takt::application {

using Json = nlohmann::json;
inline constexpr std::size_t longest_path = 300;  // of a message for people

// One object of the document: returns members by name, and refuses members that were not requested.
class Object {
 public:
  Object(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json.is_object()) {
      fail(path_, "is not an object");
    }
  }

  [[noreturn]] static void fail(const std::string& path, const std::string& problem) {
    throw ParseError(sched::shortened(path, longest_path), problem);
  }

  [[nodiscard]] std::string at(const char* key) const { return path_ + "/" + key; }

  [[nodiscard]] const Json* find(const char* key) {
    asked_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  [[nodiscard]] const Json& get(const char* key) {
    const Json* found = find(key);
    if (found == nullptr) {
      fail(at(key), "is missing");
    }
    return *found;
  }

  void read(const char* key, std::string& value) {
    if (const Json* found = find(key)) {
      if (!found->is_string()) {
        fail(at(key), "is not a text");
      }
      value = found->get<std::string>();
    }
  }
  void read(const char* key, bool& value) {
    if (const Json* found = find(key)) {
      if (!found->is_boolean()) {
        fail(at(key), "is neither true nor false");
      }
      value = found->get<bool>();
    }
  }
  template <typename Integer>
    requires std::integral<Integer>
  void read(const char* key, Integer& value) {
    if (const Json* found = find(key)) {
      value = integer<Integer>(*found, at(key));
    }
  }
  void read(const char* key, nanoseconds& value) {
    if (const Json* found = find(key)) {
      value = nanoseconds{integer<std::int64_t>(*found, at(key))};
    }
  }
  template <typename Value>
  void read(const char* key, std::optional<Value>& value) {
    if (find(key) != nullptr) {
      read(key, value.emplace());
    }
  }
  void read(const char* key, std::vector<std::string>& values) {
    each(key, [&](const Json& item, const std::string& path) {
      if (!item.is_string()) {
        fail(path, "is not a text");
      }
      values.push_back(item.get<std::string>());
    });
  }
  void read(const char* key, sched::Overrun& value) {
    std::string text;
    read(key, text);
    if (text.empty()) {
      return;
    }
    constexpr std::array names = {"skip", "queue_one", "catch_up"};
    const auto* const found = std::ranges::find(names, text);
    if (found == names.end()) {
      fail(at(key), "is none of skip, queue_one, catch_up");
    }
    value = static_cast<sched::Overrun>(found - names.begin());
  }
  void read(const char* key, std::vector<sched::Read>& values) {
    each(key, [&](const Json& item, const std::string& path) {
      Object object{item, path};
      sched::Read value;
      object.read("topic", value.topic);
      object.read("max_age", value.max_age);
      object.finish();
      values.push_back(std::move(value));
    });
  }

  template <typename Function>
  void each(const char* key, const Function& function) {
    const Json* found = find(key);
    if (found == nullptr) {
      return;
    }
    if (!found->is_array()) {
      fail(at(key), "is not a list");
    }
    for (std::size_t i = 0; i < found->size(); ++i) {
      function((*found)[i], at(key) + "/" + std::to_string(i));
    }
  }

  void finish() const {
    for (const auto& [key, value] : json_.items()) {
      if (!asked_.contains(key)) {
        fail(path_ + "/" + key, "is unknown here");
      }
    }
  }

  template <typename Integer>
  static Integer integer(const Json& json, const std::string& path) {
    if (!json.is_number_integer()) {
      fail(path, "is not a whole number");
    }
    using Limits = std::numeric_limits<Integer>;
    const bool fits =
        json.is_number_unsigned()
            ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())
            : std::is_signed_v<Integer> &&
                  json.get<std::int64_t>() >= static_cast<std::int64_t>(Limits::min());
    if (!fits) {
      fail(path, "is out of range");
    }
    return json.get<Integer>();
  }

 private:
  const Json& json_;
  std::string path_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace takt::application
