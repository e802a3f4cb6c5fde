// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "takt/probe/options.hpp"
#include "takt/probe/result.hpp"

namespace takt::probe {
namespace {

using Json = nlohmann::ordered_json;

TEST(Documents, capabilities_are_one_json_object) {
  const Capability timer{.kind = Kind::wakeup,
                         .transport = "nanosleep",
                         .roles = {Role::both},
                         .max_payload_bytes = 0};
  const Capability fixed{.kind = Kind::pingpong,
                         .transport = "fixed",
                         .roles = {Role::pong, Role::ping},
                         .fixed_payload_bytes = {64},
                         .wire = "rtps",
                         .apart = true,
                         .executors = {"one", "two"},
                         .durabilities = all_durabilities,
                         .histories = all_histories,
                         .contents = all_contents,
                         .allocators = {Allocator::heap, Allocator::tlsf},
                         .dds = true,
                         .without = {{"reliability", "its transport decides"}},
                         .excluded = {{{{"policy", "rr"}}, "its threads run at fifo"}}};
  EXPECT_EQ(Json::parse(describe("x", {timer, fixed})), Json::parse(R"({
    "stack": "x", "capabilities": [
      {"kind": "wakeup", "transport": "nanosleep", "roles": ["both"],
       "fixed_payload_bytes": null, "max_payload_bytes": 0, "waits": ["idle"], "reports": false,
       "executors": [], "contents": ["bytes"], "durabilities": [], "histories": [],
       "allocators": ["heap"], "min_string_bytes": null, "without": {}, "excluded": [],
       "dds": false, "wire": null, "apart": false},
      {"kind": "pingpong", "transport": "fixed", "roles": ["pong", "ping"],
       "fixed_payload_bytes": [64], "max_payload_bytes": null, "waits": ["idle"],
       "reports": false, "executors": ["one", "two"],
       "contents": ["bytes", "string"], "durabilities": ["volatile", "transient_local"],
       "histories": ["keep_last", "keep_all"], "allocators": ["heap", "tlsf"],
       "min_string_bytes": 49, "without": {"reliability": "its transport decides"},
       "excluded": [{"values": {"policy": "rr"}, "why": "its threads run at fifo"}],
       "dds": true, "wire": "rtps", "apart": true}]})"));
}

TEST(Documents, keep_64_bit_numbers_exact) {
  Result result;
  result.outcome.sent = std::numeric_limits<std::uint64_t>::max();
  result.outcome.started = os::TimePoint{std::chrono::nanoseconds::min()};
  const Json document = Json::parse(to_json({}, result));
  EXPECT_EQ(document["sent"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(document["started_ns"].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
}

TEST(Documents, report_the_counters_of_a_bus_where_there_is_one) {
  Result result;
  EXPECT_FALSE(Json::parse(to_json({}, result)).contains("bus"));
  result.outcome.bus = BusReport{.slaves = 16,
                                 .expected_counter = 48,
                                 .wrong_counter = 2,
                                 .changes = {{0, 48, 16}, {7, 45, 15}},
                                 .changes_left_out = 1,
                                 .foreign_frames = 3};
  EXPECT_EQ(Json::parse(to_json({}, result))["bus"], Json::parse(R"({
    "slaves": 16, "expected_counter": 48, "wrong_counter": 2,
    "changes": [{"cycle": 0, "working_counter": 48, "operational": 16},
                {"cycle": 7, "working_counter": 45, "operational": 15}],
    "changes_left_out": 1, "foreign_frames": 3})"));
}

TEST(Documents, report_whether_memory_was_handed_over_where_that_was_compared) {
  Result result;
  EXPECT_FALSE(Json::parse(to_json({}, result)).contains("addresses"));
  result.outcome.addresses = AddressCheck{.compared = 9, .same = 7};
  EXPECT_EQ(Json::parse(to_json({}, result))["addresses"],
            Json::parse(R"({"compared": 9, "same": 7})"));
}

TEST(Documents, stay_json_whatever_a_text_holds) {
  Result result;
  result.error = {.what = "a\"b\\c\n\x01ü", .why = "no UTF-8: \xff.", .fix = ""};
  const Json error = Json::parse(to_json({}, result))["error"];
  EXPECT_EQ(error["what"], result.error->what);
  EXPECT_EQ(error["why"], "no UTF-8: \ufffd.");
}

}  // namespace
}  // namespace takt::probe
