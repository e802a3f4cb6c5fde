// SPDX-License-Identifier: Apache-2.0
//
// What is written per communication stack: a Stack opens Links and Timers, a Link sends and takes
// messages.
// Pacing, matching of sequences, recording and ending are the same for all stacks (roles.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/os/not_granted.hpp"
#include "takt/os/stop.hpp"
#include "takt/probe/bus.hpp"
#include "takt/probe/options.hpp"
#include "takt/probe/timer.hpp"
#include "takt/probe/tlsf_pool.hpp"

namespace takt::probe {

/// The head of every message; the payload belongs to the link.
struct Message {
  std::uint64_t sequence = 0;
  os::TimePoint intended{};
  os::TimePoint sent{};
  bool last = false;  ///< closes the run: no sample, `sequence` is the number of samples sent
  /// When its callback began, of a stack that has callbacks; else it arrives when receive()
  /// returns.
  std::optional<os::TimePoint> received{};
};

/// Of how many messages the address on arrival was compared with that on sending.
struct AddressCheck {
  std::uint64_t compared = 0;
  std::uint64_t same = 0;
};

/// One end of a connection, used by one thread.
class Link {
 public:
  virtual ~Link() = default;

  /// Waits until the other ends are there, so that nothing sent from now on is lost to discovery.
  /// Returns false when a stop was requested; throws Failure at the deadline.
  virtual bool connect(os::TimePoint deadline) = 0;

  /// Sends a message with the payload that was asked for. False: see problem().
  virtual bool send(const Message& message) noexcept = 0;

  /// How long before its start time a message is handed over to send(), of a link that lets it
  /// leave at that time; else it leaves when it is handed over.
  virtual std::chrono::nanoseconds lead() const noexcept { return {}; }

  /// Sends the message that was taken last back with its payload.
  virtual bool reply() noexcept = 0;

  /// Takes the next message, waiting for it until `deadline`; nothing when none came, a stop was
  /// requested or taking failed.
  virtual std::optional<Message> receive(os::TimePoint deadline) noexcept = 0;

  /// Tells the active end that this one has all that it wants; nothing is sent afterwards.
  virtual void leave() noexcept {}

  /// How many other ends are connected now.
  virtual std::size_t peers() const noexcept = 0;

  /// Why sending or taking failed, when it did.
  virtual std::optional<os::NotGranted> problem() const = 0;

  /// Why messages came by another way than the transport's name says, when they did; asked after
  /// the loop of an end that got all of them, while the other end is still there.
  virtual std::optional<os::NotGranted> detour() const { return {}; }

  /// Of a way that may hand the memory of a message over; asked after the loop.
  virtual std::optional<AddressCheck> addresses() const { return {}; }
};

class Stack {
 public:
  virtual ~Stack() = default;
  virtual std::string_view name() const = 0;
  virtual std::vector<Capability> capabilities() const = 0;

  /// What this stack alone can say of the options; throws UsageError.
  virtual void check(const Options& /*options*/) const {}

  /// Opens the end of `role`. Called after the real-time set-up, so that threads which the
  /// middleware starts inherit it, and never from two threads at once. `stop` outlives the link.
  virtual std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) = 0;

  /// Opens the timer of a timer kind, under the same rules; for stacks whose capabilities have one.
  virtual std::unique_ptr<Timer> open_timer(const Options& /*options*/, os::StopFlag& /*stop*/) {
    return nullptr;
  }

  /// Opens the fieldbus of a kind that has one, likewise; its slaves take part in process data when
  /// this returns. Nothing where a stop was requested meanwhile; throws Failure.
  virtual std::unique_ptr<Bus> open_bus(const Options& /*options*/, os::StopFlag& /*stop*/) {
    return nullptr;
  }

  /// Ends what is left when all links and timers are gone. It may hang: the watchdog still runs.
  virtual void close() {}

  /// The pool that `--allocator` asked for, once it is in use.
  virtual const TlsfPool* pool() const noexcept { return nullptr; }

  /// What the numbers depend on besides this program.
  virtual std::map<std::string, std::string> versions() const { return {}; }
};

/// Runs the probe of `stack` from command line to exit code.
int run(int argc, const char* const* argv, Stack& stack);

}  // namespace takt::probe
