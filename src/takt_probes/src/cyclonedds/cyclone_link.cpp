// SPDX-License-Identifier: Apache-2.0
#include "cyclone_link.hpp"

#include <array>
#include <memory>

#include "dds.hpp"
#include "meeting.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using Qos = std::unique_ptr<dds_qos_t, decltype(&dds_delete_qos)>;
using Listener = std::unique_ptr<dds_listener_t, decltype(&dds_delete_listener)>;

constexpr dds_duration_t longest_blocked = DDS_MSECS(100);  // as ROS 2 leaves it

Qos qos_of(const Options& options) {
  Qos qos{dds_create_qos(), &dds_delete_qos};
  dds_qset_reliability(qos.get(),
                       options.reliability == Reliability::reliable ? DDS_RELIABILITY_RELIABLE
                                                                    : DDS_RELIABILITY_BEST_EFFORT,
                       longest_blocked);
  const bool all = options.history == History::keep_all;
  const auto kind = all ? DDS_HISTORY_KEEP_ALL : DDS_HISTORY_KEEP_LAST;
  const auto depth = all ? DDS_LENGTH_UNLIMITED : static_cast<std::int32_t>(options.depth);
  dds_qset_history(qos.get(), kind, depth);
  if (options.durability == Durability::transient_local) {
    dds_qset_durability(qos.get(), DDS_DURABILITY_TRANSIENT_LOCAL);
    // What a late reader gets, as ROS 2 leaves it: the history.
    dds_qset_durability_service(qos.get(), 0, kind, depth, DDS_LENGTH_UNLIMITED,
                                DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  }
  return qos;
}

Entity open_topic(dds_entity_t participant, const std::string& name) {
  return {dds_create_topic(participant, &takt_interfaces_msg_dds__Sample__desc,
                           dds_topic(name).c_str(), nullptr, nullptr),
          "a topic"};
}

/// Room for the payload from the start, so that taking the first message allocates nothing.
void make_room(dds_sequence_octet& payload, std::size_t bytes) {
  payload._maximum = payload._length = static_cast<std::uint32_t>(bytes);
  payload._buffer = bytes > 0 ? static_cast<std::uint8_t*>(dds_alloc(bytes)) : nullptr;
  payload._release = true;
}

std::size_t count_of(dds_return_t found) noexcept {
  return found > 0 ? static_cast<std::size_t>(found) : 0;
}

}  // namespace

Entity::Entity(dds_entity_t created, const char* what) : handle_{created} {
  if (created < 0) {
    handle_ = 0;
    throw Failure{{.what = std::string{"Cyclone DDS could not open "} + what,
                   .why = dds_strretcode(created),
                   .fix = "look at Cyclone's own output above, and at --topic, ROS_DOMAIN_ID and "
                          "CYCLONEDDS_URI (its interface)"}};
  }
}

void Entity::reset() noexcept {
  if (handle_ > 0) {
    dds_delete(std::exchange(handle_, 0));
  }
}

CycloneLink::CycloneLink(dds_entity_t participant, const Options& options, Role role,
                         os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop}, participant_{participant}, inbox_{stop} {
  make_room(outgoing_.payload_, options.payload_bytes);
  make_room(taken_.payload_, options.payload_bytes);
  const Listener listener{dds_create_listener(&inbox_), &dds_delete_listener};
  dds_lset_data_available(listener.get(), [](dds_entity_t /*reader*/, void* inbox) {
    static_cast<Inbox*>(inbox)->announce(1);
  });
  const Entity topic =
      open_topic(participant, is_active(role) ? topic_back(options) : topic_there(options));
  in_ = {dds_create_reader(participant, *topic, qos_of(options).get(), listener.get()), "a reader"};
  if (is_active(role)) {
    out_ = open_writer(topic_there(options));
  }
}

CycloneLink::~CycloneLink() {
  out_.reset();
  in_.reset();  // returns when no announcement is under way
  for (Sample* sample : {&outgoing_, &taken_}) {
    dds_sample_free(sample, &takt_interfaces_msg_dds__Sample__desc, DDS_FREE_CONTENTS);
  }
}

Entity CycloneLink::open_writer(const std::string& topic) {
  // The writer keeps its topic.
  return {dds_create_writer(participant_, *open_topic(participant_, topic), qos_of(options_).get(),
                            nullptr),
          "a writer"};
}

bool CycloneLink::connect(os::TimePoint deadline) {
  const auto found = [this] { return peers(); };
  const auto heard = [this] { return count_of(dds_get_matched_subscriptions(*out_, nullptr, 0)); };
  if (is_active(role_)) {
    const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
    return wait_for_meeting(options_, stop_, deadline,
                            [&] { return found() >= wanted && heard() >= wanted; });
  }
  if (!wait_for_meeting(options_, stop_, deadline, [&] { return found() >= 1; })) {
    return false;
  }
  out_ = open_writer(topic_back(options_));
  return wait_for_meeting(options_, stop_, deadline, [&] { return heard() >= 1; });
}

std::size_t CycloneLink::peers() const noexcept {
  return count_of(dds_get_matched_publications(*in_, nullptr, 0));
}

bool CycloneLink::send(const Message& message) noexcept {
  outgoing_.sequence_ = message.sequence;
  outgoing_.intended_ns_ = message.intended.time_since_epoch().count();
  outgoing_.sent_ns_ = message.sent.time_since_epoch().count();
  outgoing_.last_ = message.last;
  return done(dds_write(*out_, &outgoing_));
}

std::optional<Message> CycloneLink::receive(os::TimePoint deadline) noexcept {
  using std::chrono::nanoseconds;
  while (inbox_.await(deadline)) {
    std::array<void*, 1> into{&taken_};
    dds_sample_info_t info;
    const dds_return_t taken = dds_take(*in_, into.data(), &info, 1, 1);
    if (taken < 0) {
      done(taken);
      return {};
    }
    if (taken == 1 && info.valid_data) {  // otherwise a writer has come or gone
      return Message{.sequence = taken_.sequence_,
                     .intended = os::TimePoint{nanoseconds{taken_.intended_ns_}},
                     .sent = os::TimePoint{nanoseconds{taken_.sent_ns_}},
                     .last = taken_.last_};
    }
  }
  return {};
}

bool CycloneLink::done(dds_return_t code) noexcept {
  if (code < 0) {
    failure_ = code;
  }
  return code >= 0;
}

std::optional<os::Shortfall> CycloneLink::problem() const {
  if (failure_ == DDS_RETCODE_OK) {
    return {};
  }
  return os::Shortfall{.what = "Cyclone DDS could not send or take a message",
                       .why = dds_strretcode(failure_),
                       .fix = "look at Cyclone's own output above"};
}

}  // namespace takt::probe
