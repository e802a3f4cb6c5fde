// SPDX-License-Identifier: Apache-2.0
/// @file
/// Records the events of real-time threads: each thread has a ring of its own, and one thread of
/// the lowest urgency writes the rings to a file. Lost events are counted, in the file's header and
/// as overflow events where they are missing. The same thread watches the time that the hypervisor
/// steals: the one cause of a late job that no thread of the process can observe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/os/stolen_time.hpp"
#include "takt/os/stop.hpp"
#include "takt/os/thread.hpp"
#include "takt/trace/recorder.hpp"
#include "takt/trace/ring.hpp"
#include "takt/trace/writer.hpp"
#include "takt/visibility.hpp"

namespace takt::trace {

/// Memory and delay of a tracer.
struct TracerOptions {
  std::size_t ring_capacity = 16384;           ///< Events for each thread, 32 bytes each.
  std::chrono::milliseconds drain_period{10};  ///< A killed process loses at most this much.
};

/// Writes the events of many threads to one file. Functions are thread-safe unless they say
/// otherwise.
class TAKT_CORE_PUBLIC Tracer {
 public:
  /// Creates the file and starts the writing thread.
  /// @throws std::system_error if the file cannot be created.
  explicit Tracer(const std::filesystem::path& path, TracerOptions options = {});

  /// Stops. Errors of the last writes are lost: call stop() to get them.
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  Tracer(Tracer&&) = delete;
  Tracer& operator=(Tracer&&) = delete;

  /// A recorder for one more thread, valid as long as the tracer exists. Allocates: call it before
  /// the thread's loop.
  Recorder add_thread();

  /// For names and attributes; events come from the recorders.
  TraceWriter& writer() noexcept { return writer_; }

  /// Writes all remaining events and closes the file. No thread may record any more.
  /// @return what went wrong while writing; empty if nothing did.
  std::string stop();

  /// Events lost so far.
  std::uint64_t lost() const noexcept { return writer_.lost(); }

 private:
  struct ThreadRing {
    explicit ThreadRing(std::size_t capacity) : ring(capacity) {}
    Ring ring;
    std::uint64_t lost_reported = 0;
  };
  void run();
  void drain();
  void watch_steal();

  TracerOptions options_;
  TraceWriter writer_;
  std::mutex mutex_;  // guards rings_ against add_thread; never taken by a recording thread
  std::vector<std::unique_ptr<ThreadRing>> rings_;
  std::vector<Event> batch_;
  std::string error_;
  os::StolenTime steal_;
  std::vector<os::StolenTime::OfCore> stolen_;
  std::vector<os::StolenTime::OfCore> stolen_before_;
  os::TimePoint watched_before_;
  os::StopFlag stop_;
  os::Thread thread_;  // last: it uses all of the above
};

}  // namespace takt::trace
