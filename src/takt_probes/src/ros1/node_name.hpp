// SPDX-License-Identifier: Apache-2.0
//
// The name of this process's node. It is unique by the process id, and it has a length that UDPROS
// can live with: both ends send their connection header as base64 in XML-RPC, and with libb64 1.2
// (Debian, Ubuntu) a header of a multiple of 54 bytes, whose last line of 72 characters is full,
// gets a NUL behind it. The receiver stops reading there, the connection never stands, and nothing
// says so.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "meeting.hpp"
#include "ros1_message.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// Bytes of a connection header: each field is a length of 4 bytes, the key, '=' and the value.
inline std::size_t header_bytes(
    std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : fields) {
    bytes += 4 + key.size() + 1 + value.size();
  }
  return bytes;
}

/// Whether the connection of `topic` can stand when `node` asks for it, and when it answers.
template <class Type>
bool fits_udpros(const std::string& node, const std::string& topic) {
  namespace traits = ros::message_traits;
  const std::string caller = "/" + node;
  const std::string resolved = topic.starts_with('/') ? topic : "/" + topic;
  const std::size_t asking = header_bytes({{"callerid", caller},
                                           {"md5sum", traits::MD5Sum<Type>::value()},
                                           {"topic", resolved},
                                           {"type", traits::DataType<Type>::value()}});
  const std::size_t answering =
      asking + header_bytes({{"message_definition", traits::Definition<Type>::value()}});
  constexpr std::size_t full_line = 54;
  return asking % full_line != 0 && answering % full_line != 0;
}

inline std::string node_name(const Options& options) {
  std::string name = "probe_" + std::string{name_of(options.role)} + "_" + std::to_string(getpid());
  const auto fits =
      options.content == Content::string ? fits_udpros<Ros1String> : fits_udpros<Ros1Sample>;
  while (!fits(name, topic_there(options)) || !fits(name, topic_back(options))) {
    name += '_';
  }
  return name;
}

}  // namespace takt::probe
