// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/json.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace takt::probe {
namespace {

TEST(JsonWriter, separates_members_and_elements_at_every_depth) {
  JsonWriter json;
  json.open_object().field("a", 1).key("b").open_array();
  json.value(true).open_object().close_object().null().close_array();
  json.key("c").open_object().field("d", "e").close_object().close_object();
  EXPECT_EQ(json.text(), R"({"a": 1, "b": [true, {}, null], "c": {"d": "e"}})");
}

TEST(JsonWriter, escapes_what_json_does_not_allow_in_a_text) {
  JsonWriter json;
  json.value(std::string{"a\"b\\c\n\x01ü"});
  EXPECT_EQ(json.text(), "\"a\\\"b\\\\c\\u000a\\u0001ü\"");
}

TEST(JsonWriter, keeps_64_bit_numbers_exact) {
  JsonWriter json;
  json.open_array();
  json.value(std::numeric_limits<std::int64_t>::min());
  json.value(std::numeric_limits<std::uint64_t>::max()).close_array();
  EXPECT_EQ(json.text(), "[-9223372036854775808, 18446744073709551615]");
}

TEST(JsonWriter, writes_null_for_a_number_that_json_does_not_have) {
  JsonWriter json;
  json.value(std::numeric_limits<double>::infinity());
  EXPECT_EQ(json.text(), "null");
}

}  // namespace
}  // namespace takt::probe
