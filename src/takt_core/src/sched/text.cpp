// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

namespace takt::sched {

namespace {

constexpr std::size_t longest_name = 80;

// The length of a beginning that does not end within a letter of UTF-8.
std::size_t whole_letters(std::string_view text, std::size_t most) {
  constexpr unsigned char mark = 0xC0U;
  constexpr unsigned char goes_on = 0x80U;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & mark) == goes_on) {
    --most;
  }
  return most;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return std::string{text};
  }
  return std::string{text.substr(0, whole_letters(text, most))} + "… (" +
         std::to_string(text.size()) + " bytes)";
}

std::string name_text(std::string_view name) {
  return "'" + shortened(name, longest_name) + "'";
}

std::string task_text(const Task& task) {
  return "task " + name_text(task.name);
}

std::string time_text(nanoseconds time) {
  static constexpr std::array<std::pair<double, const char*>, 4> units{
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1, "ns"}}};
  const auto count = static_cast<double>(time.count());
  const auto* unit = std::find_if(units.begin(), units.end() - 1, [&](const auto& candidate) {
    return std::abs(count) >= candidate.first;
  });
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.6g %s", count / unit->first, unit->second);
  return text.data();
}

namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Changes of one letter, and swaps of two neighbours, from one name to the other (the optimal
// string alignment distance). Upper and lower case are the same.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [&](std::size_t i, std::size_t j) { return lower(a[i]) == lower(b[j]); };
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  std::iota(table[0].begin(), table[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    table[i][0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      table[i][j] = std::min({table[i - 1][j - 1] + (same(i - 1, j - 1) ? 0U : 1U),
                              table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table.back().back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  const auto too_long = [](std::string_view text) { return text.size() > longest_name; };
  if (too_long(name)) {  // nobody mistyped it, and the table would fill the memory
    return {};
  }
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    if (too_long(candidate)) {
      continue;
    }
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string fix_text(std::string_view name, std::span<const std::string_view> candidates) {
  if (const std::string_view nearest = nearest_name(name, candidates); !nearest.empty()) {
    return "did you mean " + name_text(nearest) + "?";
  }
  if (candidates.empty()) {
    return "there are none";
  }
  // A long list helps nobody.
  static constexpr std::size_t most = 12;
  std::string text = "choose one of ";
  for (std::size_t i = 0; i < std::min(candidates.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + name_text(candidates[i]);
  }
  return text + (candidates.size() > most ? ", …" : "");
}

}  // namespace takt::sched
