// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/traffic_class.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>
#include <unistd.h>

namespace takt::probe {
namespace {

constexpr int expedited = 46;

class Socket {
 public:
  Socket(int family, int type) : descriptor_{socket(family, type, 0)} {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(descriptor_); }

  bool open() const { return descriptor_ >= 0; }
  void set(int level, int name, int value) const {
    ASSERT_EQ(setsockopt(descriptor_, level, name, &value, sizeof(value)), 0);
  }
  int get(int level, int name) const {
    int value = -1;
    socklen_t length = sizeof(value);
    EXPECT_EQ(getsockopt(descriptor_, level, name, &value, &length), 0);
    return value;
  }

 private:
  int descriptor_;
};

Options asking() {
  Options options;
  options.dscp = expedited;
  return options;
}

TEST(TrafficClass, sockets_of_the_internet_are_marked_and_their_ecn_stays) {
  const Options options = asking();
  const Socket datagrams{AF_INET, SOCK_DGRAM};
  const Socket stream{AF_INET, SOCK_STREAM};
  const Socket local{AF_UNIX, SOCK_DGRAM};
  constexpr int capable = 0b10;
  datagrams.set(IPPROTO_IP, IP_TOS, capable);
  TrafficClass traffic{options};
  traffic.enforce();
  EXPECT_EQ(datagrams.get(IPPROTO_IP, IP_TOS), expedited << 2 | capable);
  EXPECT_EQ(stream.get(IPPROTO_IP, IP_TOS) >> 2, expedited);
  const MarkedSockets found = traffic.found();
  EXPECT_EQ(found.all, 2U);
  EXPECT_EQ(found.marked, 2U);
  EXPECT_TRUE(traffic.not_granted(found).empty());
}

TEST(TrafficClass, ipv6_has_the_same) {
  const Options options = asking();
  const Socket datagrams{AF_INET6, SOCK_DGRAM};
  if (!datagrams.open()) {
    GTEST_SKIP() << "this kernel has no IPv6";
  }
  TrafficClass{options}.enforce();
  EXPECT_EQ(datagrams.get(IPPROTO_IPV6, IPV6_TCLASS) >> 2, expedited);
}

TEST(TrafficClass, a_socket_that_comes_later_is_reported) {
  const Options options = asking();
  const Socket before{AF_INET, SOCK_DGRAM};
  TrafficClass traffic{options};
  traffic.enforce();
  const Socket later{AF_INET, SOCK_DGRAM};
  const auto notes = traffic.not_granted(traffic.found());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().why.find("1 of 2"), std::string::npos) << notes.front().why;
}

TEST(TrafficClass, without_a_socket_there_is_nothing_to_mark) {
  const Options options = asking();
  TrafficClass traffic{options};
  traffic.enforce();
  EXPECT_EQ(traffic.not_granted(traffic.found()).size(), 1U);
}

TEST(TrafficClass, where_none_is_asked_nothing_is_touched) {
  const Options options;
  const Socket datagrams{AF_INET, SOCK_DGRAM};
  TrafficClass traffic{options};
  traffic.enforce();
  EXPECT_EQ(datagrams.get(IPPROTO_IP, IP_TOS), 0);
  EXPECT_TRUE(traffic.not_granted(traffic.found()).empty());
}

}  // namespace
}  // namespace takt::probe
