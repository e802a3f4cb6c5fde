// SPDX-License-Identifier: Apache-2.0
#include "futex_link.hpp"

#include <algorithm>
#include <utility>

namespace takt::probe {

FutexLink::FutexLink(std::shared_ptr<FutexLane> out, std::shared_ptr<FutexLane> in,
                     os::StopFlag& stop)
    : out_{std::move(out)}, in_{std::move(in)}, stop_{stop}, payload_(out_->payload.size()) {
  stop_.attach(in_->event);
}

FutexLink::~FutexLink() {
  stop_.detach(in_->event);
}

bool FutexLink::connect(os::TimePoint /*deadline*/) {
  return !stop_.requested();
}

bool FutexLink::send(const Message& message) noexcept {
  if (out_->full.load(std::memory_order_acquire)) {
    return true;  // lost
  }
  out_->message = message;
  std::ranges::copy(payload_, out_->payload.begin());
  out_->full.store(true, std::memory_order_release);
  out_->event.notify();
  return true;
}

bool FutexLink::reply() noexcept {
  return send(taken_);
}

std::optional<Message> FutexLink::receive(os::TimePoint deadline) noexcept {
  while (!in_->full.load(std::memory_order_acquire)) {
    if (stop_.requested() || !in_->event.wait_until(deadline)) {
      return {};
    }
  }
  taken_ = in_->message;
  std::ranges::copy(in_->payload, payload_.begin());
  in_->full.store(false, std::memory_order_release);
  return taken_;
}

}  // namespace takt::probe
