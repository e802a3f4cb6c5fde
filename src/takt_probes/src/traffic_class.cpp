// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/traffic_class.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

namespace takt::probe {
namespace {

constexpr int ecn = 0b11;  // of the same byte, and the kernel's

/// Where a socket of the Internet has the byte with its DSCP.
struct Field {
  int level;
  int name;
};

std::optional<Field> field_of(int descriptor) {
  int family = 0;
  socklen_t length = sizeof(family);
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0) {
    return {};  // a file, a pipe, or closed meanwhile
  }
  switch (family) {
    case AF_INET:
      return Field{IPPROTO_IP, IP_TOS};
    case AF_INET6:
      return Field{IPPROTO_IPV6, IPV6_TCLASS};
    default:
      return {};
  }
}

std::optional<int> value_of(int descriptor, const Field& field) {
  int value = 0;
  socklen_t length = sizeof(value);
  if (getsockopt(descriptor, field.level, field.name, &value, &length) != 0) {
    return {};
  }
  return value;
}

template <class Visit>
void each_descriptor(const Visit& visit) {
  std::error_code error;
  // A folder that changes under the iterator may miss what comes, but not what stays.
  for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/fd", error}) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    visit(descriptor);
  }
}

}  // namespace

void TrafficClass::enforce() {
  if (!options_.dscp) {
    return;
  }
  const std::scoped_lock lock{mutex_};
  each_descriptor([this](int descriptor) {
    const auto field = field_of(descriptor);
    const auto now = field ? value_of(descriptor, *field) : std::nullopt;
    if (!now) {
      return;
    }
    const int wanted = *options_.dscp << 2 | (*now & ecn);
    if (setsockopt(descriptor, field->level, field->name, &wanted, sizeof(wanted)) != 0) {
      refused_ = "setsockopt: " + os::error_text(errno);
    }
  });
}

MarkedSockets TrafficClass::found() const {
  MarkedSockets found;
  if (options_.dscp) {
    each_descriptor([&](int descriptor) {
      const auto field = field_of(descriptor);
      const auto now = field ? value_of(descriptor, *field) : std::nullopt;
      if (now) {
        ++found.all;
        found.marked += *now >> 2 == *options_.dscp ? 1 : 0;
      }
    });
  }
  return found;
}

os::SettingsNotGranted TrafficClass::not_granted(const MarkedSockets& found) const {
  if (!options_.dscp || (found.all > 0 && found.marked == found.all)) {
    return {};
  }
  const std::string what = "packets with the DSCP " + std::to_string(*options_.dscp);
  if (found.all == 0) {
    return {{.what = what,
             .why = "this process has no socket of the Internet",
             .fix = "leave --dscp away, or take a transport that goes over the network"}};
  }
  const std::string others = std::to_string(found.all - found.marked) + " of " +
                             std::to_string(found.all) + " sockets have another one";
  return {{.what = what,
           .why = refused_.empty() ? others + ": they were opened after the ends had met"
                                   : refused_ + "; " + others,
           .fix = "look which sockets the middleware opens late: ss --udp --tcp --processes"}};
}

}  // namespace takt::probe
