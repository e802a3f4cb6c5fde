// SPDX-License-Identifier: Apache-2.0
//
// Buffers the simulator's events and writes them to a trace file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model.hpp"
#include "takt/trace/writer.hpp"

namespace takt::sim {

class Trace {
 public:
  Trace() = default;
  // Writes the names. Throws std::system_error.
  Trace(Model& model, const Options& options, nanoseconds duration);

  // Only while it is on.
  void record(trace::EventType type, TimePoint time, int core, std::uint32_t task,
              std::uint64_t job, std::int64_t value = 0, std::uint16_t topic = trace::no_topic,
              std::uint64_t detail = 0) noexcept {
    constexpr std::uint64_t most = 255;
    events_.push_back({.time = time.time_since_epoch().count(),
                       .job = job,
                       .value = value,
                       .task = static_cast<std::uint16_t>(task),
                       .topic = topic,
                       .core = static_cast<std::uint16_t>(core),
                       .type = type,
                       .detail = static_cast<std::uint8_t>(detail < most ? detail : most)});
  }

  [[nodiscard]] bool on() const noexcept { return writer_.has_value(); }
  [[nodiscard]] bool full() const noexcept { return events_.size() >= batch; }

  // Throw std::system_error.
  void flush();
  void close();

 private:
  static constexpr std::size_t batch = 8192;

  std::optional<trace::TraceWriter> writer_;
  std::vector<trace::Event> events_;
};

}  // namespace takt::sim
