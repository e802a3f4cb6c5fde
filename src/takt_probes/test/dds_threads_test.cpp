// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/dds_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "takt/os/event.hpp"

namespace takt::probe {
namespace {

// A thread of somebody else's, for as long as this lives.
class Other {
 public:
  explicit Other(const std::string& name)
      : thread_{{.cpus = {}, .name = name}, [this] { end_.wait(); }} {}
  ~Other() { end_.notify(); }

 private:
  os::Event end_;
  os::Thread thread_;
};

Options asking(int least, int most) {
  Options options;
  options.policy = os::SchedulingPolicy::fifo;
  options.priority = 20;
  options.dds_priority = DdsPriority{.least = least, .most = most};
  return options;
}

const DdsThread& named(const std::vector<DdsThread>& every, std::string_view name) {
  return *std::ranges::find(every, name, [](const DdsThread& one) { return one.status.name; });
}

TEST(DdsThreads, threads_for_messages_are_distinguished_from_housekeeping) {
  for (const auto* name :
       {"dds.udp.7410", "dds.shm.7411", "recv", "recvUC", "dq.user", "RustDDS Partici"}) {
    EXPECT_TRUE(carries_messages(name)) << name;
  }
  for (const auto* name : {"dds.ev.0", "dds.asyn.0.0", "dds.shm.wdog", "gc", "tev", "dq.builtins",
                           "RustDDS discove", "probe_rcl"}) {
    EXPECT_FALSE(carries_messages(name)) << name;
  }
}

TEST(DdsThreads,
     only_threads_of_the_middleware_get_a_priority_and_one_that_comes_later_is_reported) {
  const Options options = asking(10, 15);
  const Other before{"dds.udp.1"};
  DdsThreads threads{options};
  const Other carrier{"dds.udp.2"};
  const Other keeper{"dds.ev.0"};
  const Other own{"takt.spin"};
  threads.enforce();
  const Other later{"dds.udp.3"};
  const auto found = threads.found(os::process_threads());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(named(found, "dds.udp.2").asked, 15);
  EXPECT_EQ(named(found, "dds.udp.2").set_by, "probe");
  EXPECT_EQ(named(found, "dds.ev.0").asked, 10);
  EXPECT_EQ(named(found, "dds.udp.3").set_by, "later");
  const auto notes = threads.not_granted(found);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes.front().what, "DDS threads at fifo 10-15");
  EXPECT_NE(notes.front().why.find("dds.udp.3 other 0 instead of 15"), std::string::npos)
      << notes.front().why;
  if (named(found, "dds.ev.0").status.policy == os::SchedulingPolicy::fifo) {  // with the right
    EXPECT_EQ(named(found, "dds.ev.0").status.priority, 10);
    EXPECT_EQ(named(found, "dds.udp.2").status.priority, 15);
    EXPECT_EQ(notes.front().why.find("dds.ev.0"), std::string::npos) << notes.front().why;
  } else {
    EXPECT_NE(notes.front().why.find("dds.ev.0 other 0 instead of 10"), std::string::npos);
  }
}

TEST(DdsThreads, a_middleware_without_threads_is_reported) {
  const Options options = asking(10, 10);
  DdsThreads threads{options};
  threads.enforce();
  const auto notes = threads.not_granted(threads.found(os::process_threads()));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().why.find("no thread of its own"), std::string::npos);
}

TEST(DdsThreads, where_nothing_is_asked_nothing_is_touched) {
  const Options options;
  DdsThreads threads{options};
  const Other carrier{"dds.udp.2"};
  threads.enforce();
  const auto found = threads.found(os::process_threads());
  EXPECT_TRUE(found.empty());
  EXPECT_TRUE(threads.not_granted(found).empty());
}

}  // namespace
}  // namespace takt::probe
