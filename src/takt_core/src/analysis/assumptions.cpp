// SPDX-License-Identifier: Apache-2.0
#include "assumptions.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "takt/stats/exceedance.hpp"

namespace takt::analysis {
namespace {

// What its bounds are proved for.
std::string declared_of(const application::Core& core) {
  std::string text = core.supply ? "supply" : "";
  const auto add = [&](const char* more) {
    text += (text.empty() ? "" : ", ") + std::string{more};
  };
  if (core.latency.count() > 0) {
    add("latency");
  }
  if (!core.interrupts.empty()) {
    add("interrupts");
  }
  return text;
}

}  // namespace

std::string assumption_of(const application::Core& core) {
  const std::string what = declared_of(core);
  if (what.empty()) {
    return {};
  }
  const std::string of = what + " of core " + std::to_string(core.cpu);
  if (!core.measured) {
    return "assuming the declared " + of;
  }
  constexpr double confidence = 0.95;
  const auto windows = static_cast<std::uint64_t>(core.measured->windows);
  const double less =
      stats::exceedance(std::min<std::uint64_t>(1, windows), windows, confidence).upper_bound;
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(),
                " (%lld windows of %.6g ms; with %.0f %% confidence at most %.3g %% provide less)",
                static_cast<long long>(core.measured->windows),
                std::chrono::duration<double, std::milli>{core.measured->window}.count(),
                100 * confidence, 100 * less);
  return "assuming the measured " + of + text.data();
}

}  // namespace takt::analysis
