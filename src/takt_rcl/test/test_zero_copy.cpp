// SPDX-License-Identifier: Apache-2.0
//
// That a loan is not copied cannot be seen in its content; it shows in where the memory comes from:
// the writer's and the reader's message lie at the same place of one mapped file.
#include <gtest/gtest.h>
#include <rmw/rmw.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <takt_interfaces/msg/sample_fixed1_mb.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>
#include <utility>

#include "support.hpp"

namespace takt::test {
namespace {

struct Place {
  std::string file;
  std::uint64_t offset;

  friend bool operator==(const Place&, const Place&) = default;
};

// The file that is mapped at an address of this process; nothing for ordinary memory.
std::optional<Place> place_of(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields{line};
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint64_t offset = 0;
    std::string skip;
    std::string file;
    char dash = 0;
    fields >> std::hex >> begin >> dash >> end >> skip >> offset >> skip >> skip >> file;
    if (begin <= address && address < end && file.starts_with('/')) {
      return Place{file, offset + (address - begin)};
    }
  }
  return std::nullopt;
}

template <class MessageT>
class ZeroCopy : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string{rmw_get_implementation_identifier()} != "rmw_fastrtps_cpp") {
      GTEST_SKIP() << "the settings are those of rmw_fastrtps_cpp";
    }
    setenv("FASTDDS_DEFAULT_PROFILES_FILE", DATA_SHARING_XML, 1);
    setenv("FASTRTPS_DEFAULT_PROFILES_FILE", DATA_SHARING_XML, 1);  // of Fast DDS 2
    setenv("RMW_FASTRTPS_USE_QOS_FROM_XML", "1", 1);
  }
};
using Types =
    testing::Types<takt_interfaces::msg::SampleFixed64B, takt_interfaces::msg::SampleFixed1MB>;
TYPED_TEST_SUITE(ZeroCopy, Types);

TYPED_TEST(ZeroCopy, a_loan_is_received_in_the_memory_in_which_it_was_written) {
  const Link<TypeParam> link{"zero_copy", QoS{4}, SubscriptionOptions{.loaned_messages = true}};
  ASSERT_TRUE(link.connect());
  auto loan = link.out->borrow_loaned_message();
  ASSERT_TRUE(loan.is_valid()) << last_error();
  loan.get().sequence = 99;
  const auto written = place_of(&loan.get());
  ASSERT_TRUE(written) << "the loan is not in shared memory";
  ASSERT_TRUE(link.out->publish(std::move(loan)));
  ReceivedLoan<TypeParam> got;
  MessageInfo info;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(link.in->take_loaned(got, info)); }));
  EXPECT_EQ(got.get().sequence, 99U);
  const auto read = place_of(&got.get());
  ASSERT_TRUE(read) << "the message was copied out of shared memory";
  EXPECT_EQ(read->file, written->file);
  EXPECT_EQ(read->offset, written->offset);
}

}  // namespace
}  // namespace takt::test
