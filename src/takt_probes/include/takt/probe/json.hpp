// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON, nothing more: the probes print two small documents and read none.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace takt::probe {

/// Appends values to a text and sets the commas. Whoever calls opens and closes in pairs.
class JsonWriter {
 public:
  JsonWriter& open_object() { return open('{'); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& open_array() { return open('['); }
  JsonWriter& close_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view{text}); }
  JsonWriter& value(const std::string& text) { return value(std::string_view{text}); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(double number);
  JsonWriter& null() { return raw("null"); }

  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }

  /// `key` and `value` in one.
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  const std::string& text() const noexcept { return text_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void quote(std::string_view text);
  void separate();

  std::string text_;
  bool first_ = true;  // no comma before the next value
};

}  // namespace takt::probe
