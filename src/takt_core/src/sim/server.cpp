// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include "takt/stats/int128.hpp"

namespace takt::sim {
namespace {

using stats::Int128;

}  // namespace

void Server::look(TimePoint now, bool has_work) noexcept {
  if (running_) {
    left_ -= now - since_;
    throttled_ = left_.count() <= 0;
  }
  since_ = now;
  if (awake_ && throttled_ && now >= begin_ + reservation_.period) {
    begin_period(begin_ + reservation_.period);
  }
  if (has_work && !awake_) {
    wake(now);
  } else if (!has_work) {
    sleep();
  }
}

TimePoint Server::next() const noexcept {
  if (!awake_) {
    return TimePoint::max();
  }
  if (throttled_) {
    return begin_ + reservation_.period;
  }
  return running_ ? since_ + left_ : TimePoint::max();
}

void Server::wake(TimePoint now) noexcept {
  awake_ = true;
  const bool implicit = reservation_.deadline == reservation_.period;
  if (!begun_ || now >= begin_ + reservation_.period || (implicit && has_too_much(now))) {
    begin_period(now);
    return;
  }
  if (now >= deadline()) {
    left_ = nanoseconds{0};
  } else if (has_too_much(now)) {
    left_ = nanoseconds{static_cast<std::int64_t>(Int128{(deadline() - now).count()} *
                                                  reservation_.runtime.count() /
                                                  reservation_.deadline.count())};
  }
  throttled_ = left_.count() <= 0;
}

void Server::begin_period(TimePoint begin) noexcept {
  begun_ = true;
  begin_ = begin;
  left_ = reservation_.runtime;
  throttled_ = false;
}

// More than runtime / deadline of the time that is left.
bool Server::has_too_much(TimePoint now) const noexcept {
  return Int128{left_.count()} * reservation_.deadline.count() >
         Int128{(deadline() - now).count()} * reservation_.runtime.count();
}

}  // namespace takt::sim
