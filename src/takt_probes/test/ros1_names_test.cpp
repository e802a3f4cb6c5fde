// SPDX-License-Identifier: Apache-2.0
//
// Node names against roscpp's own writer of headers and of XML-RPC.
#include <gtest/gtest.h>
#include <ros/header.h>
#include <xmlrpcpp/XmlRpcValue.h>

#include "node_name.hpp"

namespace takt::probe {
namespace {

/// The XML of a connection header, as the end `node` sends it.
std::string header_xml(const std::string& node, const std::string& topic, bool answering,
                       std::size_t& bytes) {
  namespace traits = ros::message_traits;
  ros::M_string fields{{"callerid", "/" + node},
                       {"md5sum", traits::MD5Sum<Ros1Sample>::value()},
                       {"topic", "/" + topic},
                       {"type", traits::DataType<Ros1Sample>::value()}};
  if (answering) {
    fields["message_definition"] = traits::Definition<Ros1Sample>::value();
  }
  boost::shared_array<std::uint8_t> buffer;
  std::uint32_t size = 0;
  ros::Header::write(fields, buffer, size);
  bytes = size;
  return XmlRpc::XmlRpcValue{buffer.get(), static_cast<int>(size)}.toXml();
}

TEST(Ros1Names, connection_headers_survive_their_way_whatever_the_length_of_the_topic) {
  for (const Role role : {Role::ping, Role::pong, Role::publisher, Role::subscriber}) {
    for (std::size_t length = 1; length <= 120; ++length) {
      Options options;
      options.role = role;
      options.topic = std::string(length, 'x');
      const std::string node = node_name(options);
      for (const std::string& topic : {topic_there(options), topic_back(options)}) {
        for (const bool answering : {false, true}) {
          std::size_t bytes = 0;
          const std::string xml = header_xml(node, topic, answering, bytes);
          EXPECT_EQ(xml.find('\0'), std::string::npos)
              << bytes << " bytes, topic of " << length << " for " << name_of(role);
        }
      }
    }
  }
}

TEST(Ros1Names, the_length_of_a_header_is_what_roscpp_writes) {
  std::size_t bytes = 0;
  header_xml("node", "topic", false, bytes);
  EXPECT_EQ(bytes, header_bytes({{"callerid", "/node"},
                                 {"md5sum", ros::message_traits::MD5Sum<Ros1Sample>::value()},
                                 {"topic", "/topic"},
                                 {"type", "takt_ros1/Sample"}}));
}

}  // namespace
}  // namespace takt::probe
