// SPDX-License-Identifier: Apache-2.0
//
// bench_rcl_executor: one measurement of one executor a run, as JSON. The tool interleaves the runs
// and judges; here nothing is judged.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <takt/os/not_granted.hpp>
#include <vector>

namespace takt::bench {

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;

struct Settings {
  std::string mode;
  std::string executor{"takt"};  // "takt", "baseline0"
  int cpu{0};                    // where everything of the process runs
  nanoseconds duration{1s};
  int callbacks{10};                // dispatch
  bool subscriptions{false};        // dispatch: half of the callbacks are subscriptions
  int priorities{1};                // dispatch, takt
  bool spread{false};               // dispatch: releases one after the other, not all at once
  bool by_pointer{false};           // dispatch, takt: messages do not go through the middleware
  int nodes{10};                    // overhead
  double publishers{0};             // overhead: share of the nodes that publish
  double subscribers{0};            // overhead: share of the nodes that subscribe
  std::vector<int> periods_ms{10};  // overhead
  std::size_t payload{500};         // intra, messages: bytes
  bool same_thread{false};          // intra: publisher and reader at one priority
};

// Each prints its document to standard output. Throw what takt_rcl throws.
void dispatch(const Settings& settings);
void overhead(const Settings& settings);
void intra(const Settings& settings);
void handover(const Settings& settings);
void messages(const Settings& settings);

// For all modes: the document's begin, and what real-time settings were not granted so far.
void note_not_granted(const os::SettingsNotGranted& not_granted);
void print_document(const Settings& settings, const Json& figures);

// Binds the calling thread, and all that it starts, to the core.
void stay_on(int cpu);

// Of the nearest rank, of ascending samples; 0 for none.
inline std::int64_t quantile(const std::vector<std::int64_t>& ascending, double p) {
  if (ascending.empty()) return 0;
  return ascending[static_cast<std::size_t>(p * static_cast<double>(ascending.size() - 1) + 0.5)];
}

}  // namespace takt::bench
