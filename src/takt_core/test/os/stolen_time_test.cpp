// SPDX-License-Identifier: Apache-2.0
#include "takt/os/stolen_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

namespace takt::os {
namespace {

TEST(StolenTime, IsKnownOfEachCoreThatIsOnlineAndNeverShrinks) {
  StolenTime steal;
  std::vector<StolenTime::OfCore> before;
  std::vector<StolenTime::OfCore> after;
  steal.read(before);
  steal.read(after);
  ASSERT_EQ(before.size(), static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  ASSERT_EQ(after.size(), before.size());
  std::set<int> cores;
  for (std::size_t i = 0; i < before.size(); ++i) {
    cores.insert(before[i].core);
    EXPECT_EQ(after[i].core, before[i].core);
    EXPECT_GE(after[i].stolen, before[i].stolen);
  }
  EXPECT_EQ(cores.size(), before.size());
}

}  // namespace
}  // namespace takt::os
