// SPDX-License-Identifier: Apache-2.0
#include "ethercat_bus.hpp"

#include "takt/probe/failure.hpp"

namespace takt::probe {
namespace {

os::NotGranted in_words(const takt_ethercat_trouble& trouble) {
  return {.what = trouble.what, .why = trouble.why, .fix = trouble.fix};
}

os::TimePoint at(std::int64_t ns) {
  return os::TimePoint{std::chrono::nanoseconds{ns}};
}

}  // namespace

std::unique_ptr<EthercatBus> EthercatBus::open(const Options& options, os::StopFlag& stop) {
  const takt_ethercat_settings settings{
      .interface = options.interface.c_str(),
      .slaves = static_cast<std::uint16_t>(options.slaves),
      .lost_after_ns = static_cast<std::uint64_t>(options.lost_after.count()),
      .stopped = [](void* context) { return static_cast<os::StopFlag*>(context)->requested(); },
      .context = &stop};
  takt_ethercat_trouble trouble{};
  Master opened{takt_ethercat_open(&settings, &trouble)};
  if (opened) {
    return std::unique_ptr<EthercatBus>{new EthercatBus{std::move(opened)}};
  }
  if (stop.requested()) {
    return nullptr;
  }
  throw Failure{in_words(trouble)};
}

std::optional<BusCycle> EthercatBus::exchange() noexcept {
  takt_ethercat_cycle cycle{};
  const int answer = takt_ethercat_exchange(master_.get(), &cycle, &trouble_);
  if (answer < 0) {
    failed_ = answer == -1;
    return {};
  }
  return BusCycle{.sent = at(cycle.sent_ns),
                  .received = at(cycle.received_ns),
                  .working_counter = cycle.working_counter,
                  .operational = cycle.operational};
}

std::optional<os::NotGranted> EthercatBus::problem() const {
  return failed_ ? std::optional{in_words(trouble_)} : std::nullopt;
}

}  // namespace takt::probe
