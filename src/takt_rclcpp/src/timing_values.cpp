// SPDX-License-Identifier: Apache-2.0
#include "timing_values.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include "core_names.hpp"
#include "takt/sched/quantity.hpp"

namespace takt_rclcpp {
namespace {

std::string joined(std::initializer_list<std::string_view> keys) {
  std::string all;
  for (const std::string_view key : keys) {
    all += (all.empty() ? "" : ", ") + std::string{key};
  }
  return all;
}

}  // namespace

void Values::expect_map(const YAML::Node& node,
                        std::initializer_list<std::string_view> keys) const {
  if (!node.IsMap()) {
    refuse(node.Mark(), "a table of keys and values is expected here",
           "write 'key: value' lines; known keys: " + joined(keys));
  }
  std::set<std::string> read;
  for (const auto& entry : node) {
    const std::string key = text(entry.first);
    if (std::ranges::find(keys, key) == keys.end()) {
      refuse(entry.first.Mark(), "unknown key " + quoted(key), "known keys here: " + joined(keys));
    }
    if (!read.insert(key).second) {
      refuse(entry.first.Mark(), "key " + quoted(key) + " stands here twice", "keep one");
    }
  }
}

std::string Values::quoted(const std::string& word) {
  constexpr std::size_t most = 40;
  std::size_t end = std::min(most, word.size());
  while (end > 0 && end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U) {
    --end;  // not within a letter
  }
  std::string text{'\''};
  text.append(word, 0, end);
  text += end < word.size() ? "…'" : "'";
  return text;
}

std::vector<YAML::Node> Values::list(const YAML::Node& node) const {
  if (!node || node.IsNull()) {
    return {};
  }
  if (!node.IsSequence()) {
    refuse(node.Mark(), "a list is expected here", "write [a, b] or lines with '- '");
  }
  return {node.begin(), node.end()};
}

std::string Values::text(const YAML::Node& node) const {
  if (!node.IsScalar() || node.Scalar().empty()) {
    refuse(node.Mark(), "a word or number is expected here", "write one");
  }
  if (node.Scalar().size() > 1000) {
    refuse(node.Mark(), "this word has more than 1000 letters", "write a shorter one");
  }
  return node.Scalar();
}

std::int64_t Values::integer(const YAML::Node& node, std::int64_t least, std::int64_t most) const {
  const std::string word = text(node);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < least || value > most) {
    refuse(node.Mark(),
           quoted(word) + " is no whole number from " + std::to_string(least) + " to " +
               std::to_string(most),
           "write such a number");
  }
  return value;
}

bool Values::truth(const YAML::Node& node) const {
  const std::string word = text(node);
  if (word != "true" && word != "false") {
    refuse(node.Mark(), quoted(word) + " is neither true nor false", "write true or false");
  }
  return word == "true";
}

std::chrono::nanoseconds Values::duration(const YAML::Node& node) const {
  const std::string word = text(node);
  try {
    // What is shorter than a nanosecond would be none, which means: not declared.
    if (const auto ns = sched::parse_quantity(sched::Quantity::duration, word); ns > 0) {
      return std::chrono::nanoseconds{ns};
    }
  } catch (const std::invalid_argument&) {  // refused below, with the range of a timing file
  }
  refuse(node.Mark(), quoted(word) + " is no length of time",
         "write a number with ns, us, ms, s, min or h, such as 2.5 ms, from 1 ns to 100 years");
}

}  // namespace takt_rclcpp
