// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/json.hpp"

#include <cmath>
#include <cstdio>

namespace takt::probe {

void JsonWriter::separate() {
  if (!first_) {
    text_ += ", ";
  }
  first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    return null();
  }
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.9g", number);
  return raw(digits);
}

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      text_ += '\\';
      text_ += letter;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", code);
      text_ += escape;
    } else {
      text_ += letter;
    }
  }
  text_ += '"';
}

}  // namespace takt::probe
