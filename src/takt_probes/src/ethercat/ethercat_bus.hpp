// SPDX-License-Identifier: Apache-2.0
//
// A segment of EtherCAT under ethercrab's master, which is behind a C interface
// (src/takt_ethercat) and has no thread: the probe's own sends, waits and receives.
#pragma once

#include <takt_ethercat.h>

#include <memory>

#include "takt/os/stop.hpp"
#include "takt/probe/bus.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

class EthercatBus : public Bus {
 public:
  /// Brings the slaves to OP; nothing where a stop was requested meanwhile. Throws Failure.
  static std::unique_ptr<EthercatBus> open(const Options& options, os::StopFlag& stop);

  std::uint16_t slaves() const noexcept override { return takt_ethercat_slaves(master_.get()); }
  std::uint16_t expected_counter() const noexcept override {
    return takt_ethercat_expected(master_.get());
  }
  std::optional<BusCycle> exchange() noexcept override;
  std::uint64_t foreign_frames() const noexcept override {
    return takt_ethercat_strange(master_.get());
  }
  std::optional<os::NotGranted> problem() const override;

 private:
  struct Close {
    void operator()(takt_ethercat_master* opened) const { takt_ethercat_close(opened); }
  };
  using Master = std::unique_ptr<takt_ethercat_master, Close>;

  explicit EthercatBus(Master master) : master_{std::move(master)} {}

  Master master_;
  bool failed_ = false;
  takt_ethercat_trouble trouble_{};
};

}  // namespace takt::probe
