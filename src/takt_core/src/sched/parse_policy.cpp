// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

constexpr std::array<std::string_view, 8> known_names{"fp",    "rm",     "dm",   "edf",
                                                      "np-fp", "np-edf", "p-rm", "cw-edf"};
constexpr std::array<PolicyPtr (*)(), known_names.size()> factories{fixed_priority,
                                                                    rate_monotonic,
                                                                    deadline_monotonic,
                                                                    edf,
                                                                    non_preemptive_fixed_priority,
                                                                    non_preemptive_edf,
                                                                    precautious_rm,
                                                                    cw_edf};

}  // namespace

PolicyPtr parse_policy(std::string_view name) {
  for (std::size_t i = 0; i < known_names.size(); ++i) {
    if (known_names[i] == name) {
      return factories[i]();
    }
  }
  throw ScheduleError("policy " + name_text(name), "there is no such policy",
                      fix_text(name, known_names));
}

std::span<const std::string_view> policy_names() noexcept {
  return known_names;
}

}  // namespace takt::sched
