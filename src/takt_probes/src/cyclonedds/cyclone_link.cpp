// SPDX-License-Identifier: Apache-2.0
#include "cyclone_link.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "dds.hpp"
#include "meeting.hpp"
#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

using Qos = std::unique_ptr<dds_qos_t, decltype(&dds_delete_qos)>;
using Listener = std::unique_ptr<dds_listener_t, decltype(&dds_delete_listener)>;

// As ROS 2 leaves it, or as long as the message would not be lost: a writer that keeps all, or has
// more under way than its reader took, waits for the reader. The latency has it, counted from the
// intended time.
dds_duration_t longest_blocked(const Options& options) {
  return std::max<dds_duration_t>(DDS_MSECS(100), options.lost_after.count());
}

Qos qos_of(const Options& options) {
  Qos qos{dds_create_qos(), &dds_delete_qos};
  dds_qset_reliability(qos.get(),
                       options.reliability == Reliability::reliable ? DDS_RELIABILITY_RELIABLE
                                                                    : DDS_RELIABILITY_BEST_EFFORT,
                       longest_blocked(options));
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

template <class Body>
Entity open_topic(dds_entity_t participant, const std::string& name) {
  return {
      dds_create_topic(participant, Body::descriptor(), dds_topic(name).c_str(), nullptr, nullptr),
      "a topic"};
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

template <class Body>
CycloneLink<Body>::CycloneLink(dds_entity_t participant, const Options& options, Role role,
                               os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop}, participant_{participant}, inbox_{stop} {
  Body::make_room(outgoing_, options.payload_bytes);
  Body::make_room(taken_, options.payload_bytes);
  const Listener listener{dds_create_listener(&inbox_), &dds_delete_listener};
  dds_lset_data_available(listener.get(), [](dds_entity_t /*reader*/, void* inbox) {
    static_cast<Inbox*>(inbox)->announce(1);
  });
  const Entity topic =
      open_topic<Body>(participant, is_active(role) ? topic_back(options) : topic_there(options));
  in_ = {dds_create_reader(participant, *topic, qos_of(options).get(), listener.get()), "a reader"};
  if (is_active(role)) {
    out_ = open_writer(topic_there(options));
  }
}

template <class Body>
CycloneLink<Body>::~CycloneLink() {
  out_.reset();
  in_.reset();  // returns when no announcement is under way
  for (Type* message : {&outgoing_, &taken_}) {
    dds_sample_free(message, Body::descriptor(), DDS_FREE_CONTENTS);
  }
}

template <class Body>
Entity CycloneLink<Body>::open_writer(const std::string& topic) {
  // The writer keeps its topic.
  return {dds_create_writer(participant_, *open_topic<Body>(participant_, topic),
                            qos_of(options_).get(), nullptr),
          "a writer"};
}

template <class Body>
bool CycloneLink<Body>::connect(os::TimePoint deadline) {
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

template <class Body>
std::size_t CycloneLink<Body>::peers() const noexcept {
  return count_of(dds_get_matched_publications(*in_, nullptr, 0));
}

template <class Body>
bool CycloneLink<Body>::send(const Message& message) noexcept {
  Body::write(outgoing_, message);
  return done(dds_write(*out_, &outgoing_));
}

template <class Body>
std::optional<Message> CycloneLink<Body>::receive(os::TimePoint deadline) noexcept {
  while (inbox_.await(deadline)) {
    std::array<void*, 1> into{&taken_};
    dds_sample_info_t info;
    const dds_return_t taken = dds_take(*in_, into.data(), &info, 1, 1);
    if (taken < 0) {
      done(taken);
      return {};
    }
    if (taken == 1 && info.valid_data) {  // otherwise a writer has come or gone
      if (auto message = Body::read(taken_)) {
        return message;
      }
    }
  }
  return {};
}

template <class Body>
bool CycloneLink<Body>::done(dds_return_t code) noexcept {
  if (code < 0) {
    failure_ = code;
  }
  return code >= 0;
}

template <class Body>
std::optional<os::NotGranted> CycloneLink<Body>::problem() const {
  if (failure_ == DDS_RETCODE_OK) {
    return {};
  }
  return os::NotGranted{.what = "Cyclone DDS could not send or take a message",
                        .why = dds_strretcode(failure_),
                        .fix = "look at Cyclone's own output above"};
}

template class CycloneLink<CycloneBytes>;
template class CycloneLink<CycloneString>;

}  // namespace takt::probe
