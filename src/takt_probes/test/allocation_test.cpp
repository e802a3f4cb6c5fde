// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "allocation_count.hpp"
#include "takt/os/usage.hpp"
#include "takt/probe/ledger.hpp"
#include "takt/probe/sample_file.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::probe {
namespace {

TEST(Recording, neither_allocates_nor_faults_to_the_last_record_and_beyond) {
  constexpr std::uint64_t capacity = 200'000;
  const test::TemporaryFile path;
  SampleFile file{path.path(), capacity};
  SequenceLedger ledger{capacity};
  // The first pass through the code is not what is asked about.
  ledger.enter(0);
  file.record(0, {}, {}, {});
  static_cast<void>(os::resource_usage(os::UsageOf::thread));

  const auto allocated_before = allocation_count();
  const auto before = os::resource_usage(os::UsageOf::thread);
  for (std::uint64_t k = 1; k < capacity + 1000; ++k) {
    ledger.enter(k);
    file.record(k, os::TimePoint{std::chrono::nanoseconds{1}}, {}, {});
  }
  const auto used = os::resource_usage(os::UsageOf::thread) - before;
  EXPECT_EQ(allocation_count(), allocated_before);
  EXPECT_EQ(used.minor_faults, 0);
  EXPECT_EQ(used.major_faults, 0);
  EXPECT_EQ(file.count(), capacity);
  EXPECT_EQ(file.dropped(), 1000U);
}

}  // namespace
}  // namespace takt::probe
