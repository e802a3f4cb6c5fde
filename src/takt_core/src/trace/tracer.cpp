// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/tracer.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <system_error>
#include <vector>

#include "takt/os/saturating.hpp"

namespace takt::trace {
namespace {

constexpr std::size_t batch_events = 4096;
constexpr int lowest_urgency = 19;  // nice

// Its own thread reads them first when the loop may have warmed up.
std::vector<os::StolenTime::OfCore> room_for_all_cores() {
  std::vector<os::StolenTime::OfCore> cores;
  cores.reserve(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))));
  return cores;
}

}  // namespace

Tracer::Tracer(const std::filesystem::path& path, TracerOptions options)
    : options_(options),
      writer_(path, trace::Source::executor),
      batch_(batch_events),
      stolen_(room_for_all_cores()),
      stolen_before_(room_for_all_cores()),
      thread_(
          {.policy = os::SchedulingPolicy::other, .priority = 0, .cpus = {}, .name = "takt.trace"},
          [this] { run(); }) {}

Tracer::~Tracer() {
  stop();
}

Recorder Tracer::add_thread() {
  auto thread = std::make_unique<ThreadRing>(options_.ring_capacity);
  const std::lock_guard lock{mutex_};
  rings_.push_back(std::move(thread));
  return Recorder{&rings_.back()->ring};
}

std::string Tracer::stop() {
  if (thread_.joinable()) {
    stop_.request();
    thread_.join();
    try {
      writer_.close();
    } catch (const std::system_error& error) {
      error_ = error.what();
    }
  }
  return error_;
}

void Tracer::run() {
  // Of this thread alone, as Linux has it. A failure leaves it at its nice value, which is
  // harmless.
  setpriority(PRIO_PROCESS, 0, lowest_urgency);
  watch_steal();
  while (!stop_.wait_until(os::add_sat(os::now(), options_.drain_period))) {
    drain();
    watch_steal();
  }
  drain();
  watch_steal();
}

void Tracer::watch_steal() {
  try {
    const os::TimePoint now = os::now();
    steal_.read(stolen_);
    for (std::size_t i = 0; i < stolen_.size() && i < stolen_before_.size(); ++i) {
      const auto news = stolen_[i].stolen - stolen_before_[i].stolen;
      if (stolen_[i].core == stolen_before_[i].core && news.count() > 0) {
        writer_.write(Event{.time = now.time_since_epoch().count(),
                            .job = static_cast<std::uint64_t>((now - watched_before_).count()),
                            .value = news.count(),
                            .core = static_cast<std::uint16_t>(stolen_[i].core),
                            .type = EventType::stolen});
      }
    }
    stolen_.swap(stolen_before_);
    watched_before_ = now;
  } catch (const std::system_error& error) {
    error_ = error.what();
  }
}

void Tracer::drain() {
  const std::lock_guard lock{mutex_};
  for (const auto& thread : rings_) {
    try {
      // One ring's worth at most, so that a thread which records without end starves no other.
      for (std::size_t taken = 0; taken < thread->ring.capacity();) {
        const std::size_t count = thread->ring.pop(batch_);
        if (count == 0) {
          break;
        }
        taken += count;
        writer_.write(std::span{batch_}.first(count));
      }
      const std::uint64_t lost = thread->ring.lost();
      if (lost != thread->lost_reported) {
        const auto news = lost - thread->lost_reported;
        thread->lost_reported = lost;
        writer_.add_lost(news);
        writer_.write(Event{.time = os::now().time_since_epoch().count(),
                            .value = static_cast<std::int64_t>(news),
                            .type = EventType::overflow});
      }
    } catch (const std::system_error& error) {
      error_ = error.what();  // counted by the writer; the last error is as good as the first
    }
  }
  try {
    writer_.flush();
  } catch (const std::system_error& error) {
    error_ = error.what();
  }
}

}  // namespace takt::trace
