// SPDX-License-Identifier: Apache-2.0
//
// The result document (docs/reference/probes.md): one JSON object that says how the probe ended,
// what it counted, and under which conditions.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/os/not_granted.hpp"
#include "takt/probe/dds_threads.hpp"
#include "takt/probe/options.hpp"
#include "takt/probe/roles.hpp"
#include "takt/probe/tlsf_pool.hpp"
#include "takt/probe/traffic_class.hpp"

namespace takt::probe {

struct Result {
  std::string_view stack;
  std::string_view status = "failed";  ///< complete, stopped or failed
  std::optional<os::NotGranted> error;
  Outcome outcome;
  std::uint64_t dropped = 0;
  std::vector<DdsThread> dds_threads;  ///< where their priority was asked for
  MarkedSockets sockets;               ///< where a DSCP was asked for
  const TlsfPool* pool = nullptr;      ///< in use at the end; null: the heap
  bool memory_locked = false;
  bool no_deep_idle = false;
  os::SettingsNotGranted notes;
  std::map<std::string, std::string> versions;
};

std::string to_json(const Options& options, const Result& result);

/// Writes `text` to `path`, a file as a whole or not at all; to standard output when `path` is
/// empty. Throws Failure.
void write_document(const std::filesystem::path& path, const std::string& text);

}  // namespace takt::probe
