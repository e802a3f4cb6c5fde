// SPDX-License-Identifier: Apache-2.0
//
// Topics of Cyclone DDS, through its C API. A thread of Cyclone reads the socket, stores the
// message and announces it; the probe's thread takes it from there.
#pragma once

#include <dds/dds.h>

#include <string>
#include <utility>

#include "cyclone_content.hpp"
#include "inbox.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

/// Owns a participant, topic, reader or writer.
class Entity {
 public:
  Entity() = default;
  /// Takes what a dds_create_* call returned; throws Failure where that is an error.
  Entity(dds_entity_t created, const char* what);
  Entity(Entity&& other) noexcept : handle_{std::exchange(other.handle_, 0)} {}
  Entity& operator=(Entity&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Entity(const Entity&) = delete;
  Entity& operator=(const Entity&) = delete;
  ~Entity() { reset(); }

  void reset() noexcept;
  dds_entity_t operator*() const noexcept { return handle_; }

 private:
  dds_entity_t handle_ = 0;
};

/// `Body`: of its messages (cyclone_content.hpp).
template <class Body>
class CycloneLink : public Link {
 public:
  /// Throws Failure. `participant` outlives the link.
  CycloneLink(dds_entity_t participant, const Options& options, Role role, os::StopFlag& stop);
  ~CycloneLink() override;

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override { return done(dds_write(*out_, &taken_)); }
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override { out_.reset(); }
  std::size_t peers() const noexcept override;
  std::optional<os::NotGranted> problem() const override;

 private:
  using Type = typename Body::Type;

  Entity open_writer(const std::string& topic);
  bool done(dds_return_t code) noexcept;

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  dds_entity_t participant_;
  Inbox inbox_;
  Type outgoing_{};
  Type taken_{};
  dds_return_t failure_ = DDS_RETCODE_OK;
  Entity in_;
  Entity out_;
};

}  // namespace takt::probe
