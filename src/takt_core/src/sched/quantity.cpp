// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "takt/sched/task.hpp"
#include "takt/stats/int128.hpp"

namespace takt::sched {
namespace {

using stats::Int128;

constexpr std::int64_t thousand = 1'000;
constexpr std::int64_t million = 1'000'000;
constexpr std::int64_t billion = 1'000'000'000;
constexpr std::int64_t widest = 100 * billion;  // bit/s
constexpr std::size_t longest_text = 80;
// 19 digits hold every result. Of the factors 3600e9 has 13 twos and 2^20 has 20: what has more
// decimals, without zeros at the end, is never whole.
constexpr std::size_t most_digits = 19;
constexpr std::size_t most_decimals = 20;

constexpr std::array<Unit, 8> durations{{{.name = "ns", .factor = 1},
                                         {.name = "us", .factor = thousand},
                                         {.name = "ms", .factor = million},
                                         {.name = "s", .factor = billion},
                                         {.name = "min", .factor = 60 * billion},
                                         {.name = "h", .factor = 3'600 * billion},
                                         {.name = "\u00b5s", .factor = thousand, .alias = true},
                                         {.name = "\u03bcs", .factor = thousand, .alias = true}}};
constexpr std::array<Unit, 6> sizes{{{.name = "B", .factor = 1},
                                     {.name = "KB", .factor = thousand},
                                     {.name = "MB", .factor = million},
                                     {.name = "KiB", .factor = 1 << 10},
                                     {.name = "MiB", .factor = 1 << 20},
                                     {.name = "kB", .factor = thousand, .alias = true}}};
constexpr std::array<Unit, 4> bandwidths{{{.name = "bps", .factor = 1},
                                          {.name = "kbps", .factor = thousand},
                                          {.name = "Mbps", .factor = million},
                                          {.name = "Gbps", .factor = billion}}};
constexpr std::array<Unit, 2> shares{
    {{.name = "ppm", .factor = 1}, {.name = "%", .factor = 10 * thousand}}};
constexpr std::array<Unit, 5> rates{{{.name = "Hz", .factor = 1},
                                     {.name = "kHz", .factor = thousand},
                                     {.name = "MHz", .factor = million},
                                     {.name = "khz", .factor = thousand, .alias = true},
                                     {.name = "hz", .factor = 1, .alias = true}}};

struct Form {
  std::span<const Unit> units;
  const char* example;
  const char* whole;  // the unit of the result
};

const Form& form(Quantity quantity) noexcept {
  static constexpr std::array<Form, 5> forms{
      {{.units = durations, .example = "a duration such as 10ms", .whole = "ns"},
       {.units = sizes, .example = "a size such as 500B or 32KB", .whole = "bytes"},
       {.units = bandwidths, .example = "a bandwidth such as 40Mbps", .whole = "bit/s"},
       {.units = shares, .example = "a share such as 0.1%", .whole = "parts per million"},
       {.units = rates, .example = "a rate such as 1kHz", .whole = ""}}};
  return forms.at(static_cast<std::size_t>(quantity));
}

// Digits and a unit, as they are written.
struct Written {
  std::string_view whole;
  std::string_view decimals;  // without zeros at the end
  std::int64_t factor = 1;
};

// Spaces of ASCII, and the no-break and thin spaces that pages put before a unit.
std::string_view without_spaces(std::string_view text) {
  static constexpr std::array<std::string_view, 9> spaces{" ",  "\t",     "\n",     "\v",    "\f",
                                                          "\r", "\u00a0", "\u2009", "\u202f"};
  const auto strip = [](auto is_at_end, auto remove) {
    while (true) {
      const auto* const space = std::ranges::find_if(spaces, is_at_end);
      if (space == spaces.end()) {
        return;
      }
      remove(space->size());
    }
  };
  strip([&text](std::string_view space) { return text.starts_with(space); },
        [&text](std::size_t size) { text.remove_prefix(size); });
  strip([&text](std::string_view space) { return text.ends_with(space); },
        [&text](std::size_t size) { text.remove_suffix(size); });
  return text;
}

std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

std::optional<Written> take_apart(Quantity quantity, std::string_view text) {
  if (text.size() > longest_text) {
    return std::nullopt;
  }
  text = without_spaces(text);
  Written written;
  written.whole = take_digits(text);
  if (written.whole.empty()) {
    return std::nullopt;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    written.decimals = take_digits(text);
    if (written.decimals.empty()) {
      return std::nullopt;
    }
  }
  const auto units = form(quantity).units;
  const auto unit = std::ranges::find(units, without_spaces(text), &Unit::name);
  if (unit == units.end()) {
    return std::nullopt;
  }
  written.whole.remove_prefix(std::min(written.whole.find_first_not_of('0'), written.whole.size()));
  written.decimals = written.decimals.substr(0, written.decimals.find_last_not_of('0') + 1);
  written.factor = unit->factor;
  return written;
}

Int128 number(std::string_view digits) {
  Int128 value = 0;
  for (const char digit : digits) {
    value = value * 10 + (digit - '0');
  }
  return value;
}

Int128 power_of_ten(std::size_t exponent) {
  Int128 power = 1;
  for (; exponent > 0; --exponent) {
    power *= 10;
  }
  return power;
}

// In the unit of the result; what has too many digits is above every range.
Int128 value_of(const Written& written, const char* unit) {
  const Int128 scale = power_of_ten(std::min(written.decimals.size(), most_decimals));
  const Int128 part =
      written.decimals.size() > most_decimals ? 0 : number(written.decimals) * written.factor;
  if (written.decimals.size() > most_decimals || part % scale != 0) {
    throw std::invalid_argument{std::string{"is not a whole number of "} + unit};
  }
  const Int128 whole =
      written.whole.size() > most_digits ? power_of_ten(most_digits) : number(written.whole);
  return whole * written.factor + part / scale;
}

// Rounded to the nearest, halves to the even ns.
Int128 period_of(const Written& written) {
  if (written.whole.empty() && written.decimals.empty()) {
    throw std::invalid_argument{"must be greater than 0 Hz"};
  }
  if (written.whole.size() > most_digits / 2 + 1) {
    return 1;  // above 1e10 Hz
  }
  const std::string_view decimals = written.decimals.substr(0, most_decimals);
  const Int128 scale = power_of_ten(decimals.size());
  const Int128 rate = (number(written.whole) * scale + number(decimals)) * written.factor;
  if (rate == 0) {
    return std::numeric_limits<std::int64_t>::max();
  }
  const Int128 second = scale * billion;
  const Int128 period = second / rate;
  const Int128 twice = 2 * (second % rate);
  const bool up = twice > rate || (twice == rate && period % 2 == 1);
  return std::max<Int128>(1, period + (up ? 1 : 0));
}

// What is wrong with a value, or null.
const char* out_of_range(Quantity quantity, Int128 value) {
  switch (quantity) {
    case Quantity::duration:
      return value > longest_time.count() ? "is longer than a hundred years" : nullptr;
    case Quantity::rate:
      return value > longest_time.count() ? "is less than once in a hundred years" : nullptr;
    case Quantity::size:
      return value > std::numeric_limits<std::int64_t>::max() ? "does not fit in 64 bits" : nullptr;
    case Quantity::bandwidth:
      return value <= 0 || value > widest ? "must be greater than 0 and at most 100Gbps" : nullptr;
    case Quantity::share:
      return value > million ? "exceeds 100%" : nullptr;
  }
  return nullptr;
}

}  // namespace

std::span<const Unit> units_of(Quantity quantity) noexcept {
  return form(quantity).units;
}

bool has_unit_of(Quantity quantity, std::string_view text) noexcept {
  return take_apart(quantity, text).has_value();
}

std::int64_t parse_quantity(Quantity quantity, std::string_view text) {
  const std::optional<Written> written = take_apart(quantity, text);
  if (!written) {
    std::string units;
    for (const Unit& unit : units_of(quantity)) {
      if (!unit.alias) {
        units += (units.empty() ? "" : ", ") + std::string{unit.name};
      }
    }
    throw std::invalid_argument{std::string{"is not "} + form(quantity).example +
                                " (units: " + units + ")"};
  }
  const Int128 value =
      quantity == Quantity::rate ? period_of(*written) : value_of(*written, form(quantity).whole);
  if (const char* const fault = out_of_range(quantity, value)) {
    throw std::invalid_argument{fault};
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace takt::sched
