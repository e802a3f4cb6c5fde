// SPDX-License-Identifier: Apache-2.0
//
// The sources of all bounds. docs/reference/analysis.md numbers the equations, in one notation.
#pragma once

#include <string>
#include <string_view>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis::methods {

inline constexpr std::string_view fixed_priority =
    "response time (Joseph & Pandya 1986; Audsley et al. 1993), eq. 2";
inline constexpr std::string_view fixed_priority_busy =
    "busy period (Lehoczky 1990; Tindell et al. 1994), eq. 2";
inline constexpr std::string_view fixed_priority_equals =
    "busy period with equal priorities in order of release (Lehoczky 1990), eq. 2";
inline constexpr std::string_view fixed_priority_groups =
    "busy period with ceilings (Baker 1991; Keskin et al. 2010), eq. 3";
inline constexpr std::string_view non_preemptive =
    "busy period, not preemptive (Davis et al. 2007), eq. 3";
inline constexpr std::string_view self_suspension =
    "busy period with self-suspension (Chen et al. 2019), eq. 13";
inline constexpr std::string_view self_suspension_and_locks =
    "busy period with self-suspension and critical sections (Chen et al. 2019; Sha et al. 1990), "
    "eq. 13 and 25";
inline constexpr std::string_view locks =
    "critical sections of less urgent callbacks (Sha et al. 1990; Baker 1991), eq. 25";
inline constexpr std::string_view waits_and_intervals =
    "waits, and the intervals between them (after Nelissen et al. 2015), eq. 28";
inline constexpr std::string_view segments =
    "segments of known lengths (after Huang & Chen 2016), eq. 30";
inline constexpr std::string_view suspension_as_blocking =
    "self-suspension as jitter or blocking (Chen, Nelissen & Huang 2016), eq. 13";
inline constexpr std::string_view calls =
    "; waits for responses of services (after Tindell & Clark 1994), eq. 32";
inline constexpr std::string_view devices =
    "; requests of devices in their order, one of each callback, eq. 36";
inline constexpr std::string_view holistic = "; releases by messages (Tindell & Clark 1994), eq. 9";
inline constexpr std::string_view edf_demand = "EDF demand (Zhang & Burns 2009), eq. 4";
inline constexpr std::string_view edf_groups =
    "EDF demand with blocking (Baker 1991; Zhang & Burns 2009), eq. 5";
inline constexpr std::string_view np_edf =
    "NP-EDF demand (Jeffay et al. 1991; George et al. 1996), eq. 5";
inline constexpr std::string_view edf_response = "EDF response (Spuri 1996), eq. 6";
inline constexpr std::string_view np_edf_response = "NP-EDF response (George et al. 1996), eq. 7";
inline constexpr std::string_view within_demand =
    "not above the deadline, by the demand (Zhang & Burns 2009), eq. 5";
inline constexpr std::string_view overload = "utilization above 1 (Liu & Layland 1973), eq. 1";
inline constexpr std::string_view periodic_resource =
    "; supply of a periodic resource (Shin & Lee 2003), eq. 18";
inline constexpr std::string_view bounded_delay =
    "; supply with a bounded delay (Mok et al. 2001), eq. 18";
inline constexpr std::string_view without_idling = "; never idle on purpose, eq. 35";
inline constexpr std::string_view interrupts = "; declared interrupts, eq. 18";
// In place of these, in a robot.
inline constexpr std::string_view processes_above =
    "; processes above (Davis & Burns 2005), eq. 18";
inline constexpr std::string_view reservation =
    "; supply of its reservation (Easwaran, Anand & Lee 2007), eq. 40";
inline constexpr std::string_view throttled = "; throttled by its quota, eq. 41";
inline constexpr std::string_view quota = "; supply of its quota (Shin & Lee 2003), eq. 41";
inline constexpr std::string_view by_weights =
    "shares its core by weights (SCHED_OTHER), of which no bound is known";
inline constexpr std::string_view over_supply =
    "utilization above the rate of the supply (Shin & Lee 2003), eq. 18";
inline constexpr std::string_view wait_set =
    "rounds of the wait set (Casini et al. 2019; Blaß et al. 2021), eq. 19";
inline constexpr std::string_view threads =
    "callback groups and the threads that serve them (after Jiang et al. 2022; Sobhani et al. "
    "2023), eq. 33";
inline constexpr std::string_view reentrant =
    "threads that jobs of reentrant groups share (after Jiang et al. 2022; Sobhani et al. 2023), "
    "eq. 48";
inline constexpr std::string_view arrival_order =
    "in the order of arrival, not preemptive (Teper et al. 2024), eq. 20";
inline constexpr std::string_view schedule_graph =
    "schedule graph (Nasri & Brandenburg 2017), eq. 8";
inline constexpr std::string_view simulation = "simulation of two hyperperiods, eq. 8";
inline constexpr std::string_view chain =
    "job chains (Davare et al. 2007; Dürr et al. 2019), eq. 10";
inline constexpr std::string_view join =
    "job chains, and the wait for the other callbacks of a join, eq. 21";
inline constexpr std::string_view subchain =
    "chain on one core as a unit (Palencia & González Harbour 1999; Choi et al. 2021), eq. 15";
inline constexpr std::string_view subchain_by_deadline =
    "chain on one core as a unit (Spuri 1996; Palencia & González Harbour 1999), eq. 16";
inline constexpr std::string_view subchain_messages =
    "chain on one core as a unit, later messages come after it (Palencia & González Harbour 1999; "
    "Choi et al. 2021), eq. 15 and 37";
inline constexpr std::string_view subchain_messages_by_deadline =
    "chain on one core as a unit, later messages come after it (Spuri 1996; Palencia & González "
    "Harbour 1999), eq. 16 and 37";
inline constexpr std::string_view subchain_returns =
    "chain on one core as a unit, parts that come back to the core after it (Palencia & González "
    "Harbour 1999; Choi et al. 2021), eq. 15 and 42";
inline constexpr std::string_view subchain_messages_returns =
    "chain on one core as a unit, later messages and parts that come back to the core after it "
    "(Palencia & González Harbour 1999; Choi et al. 2021), eq. 15, 37 and 42";
inline constexpr std::string_view subchain_parts =
    "chain on one core as a unit, parts of other chains in their order (Palencia & González "
    "Harbour 1999; Choi et al. 2021), eq. 15 and 45";
inline constexpr std::string_view path = "path analysis (Schliecker & Ernst 2009), eq. 17";
inline constexpr std::string_view path_later =
    "path analysis, later jobs of a callback come after it (Schliecker & Ernst 2009), eq. 17 and "
    "37";
inline constexpr std::string_view path_instances =
    "path analysis, other chains met on their way (Schliecker & Ernst 2009), eq. 17 and 38";
inline constexpr std::string_view path_later_instances =
    "path analysis, other chains met on their way (Schliecker & Ernst 2009), eq. 17, 37 and 38";
inline constexpr std::string_view path_paced =
    "path analysis, another chain met as both advance (Schliecker & Ernst 2009), eq. 17 and 46";
inline constexpr std::string_view path_messages =
    "path analysis, messages of a burst in their order (Schliecker & Ernst 2009), eq. 17 and 39";
inline constexpr std::string_view busy_path =
    "longest busy period, once more for each set of a join, eq. 22";
inline constexpr std::string_view busy_path_offsets =
    "longest busy period, once more for each set of a join, by the offsets of timers, eq. 22";
inline constexpr std::string_view busy = "longest busy period of the core (Lehoczky 1990), eq. 22";
inline constexpr std::string_view busy_level =
    "longest busy period of the level (Lehoczky 1990), eq. 22";
inline constexpr std::string_view chains_as_a_whole =
    "responses with chains as a whole, eq. 15 to 17, 22, 37 to 39 and 42";
inline constexpr std::string_view age = "period and response (Davare et al. 2007), eq. 11";
inline constexpr std::string_view age_across =
    "longest age of the chains to it across processes, eq. 10";
inline constexpr std::string_view age_in_order =
    "period, the source always runs first (Dürr et al. 2019), eq. 11";
inline constexpr std::string_view age_joined = "data of a join, and the next publication, eq. 24";
inline constexpr std::string_view age_joined_busy =
    "longest busy periods of the core, for a publication and the next one, eq. 24";
inline constexpr std::string_view age_early = "early releases of the source, eq. 12";
inline constexpr std::string_view across_switches_of_robots =
    "each callback and all that it releases, beside all that may be before them in two scenarios "
    "(after Real & Crespo 2004; Tindell & Clark 1994), eq. 43";
inline constexpr std::string_view across_switches =
    "densest releases of all scenarios (after Real & Crespo 2004), eq. 14";
inline constexpr std::string_view entangled = "not bounded: see the notes";
inline constexpr std::string_view unexplored = "not explored: see the notes";
inline constexpr std::string_view none = "no test for this policy";

}  // namespace takt::analysis::methods

namespace takt::analysis {

// The method behind the bound of a demand.
std::string method_of(Test test, const Demand& demand, const Response& response,
                      const ScenarioModel::CoreDemands& demands, const CoreBounds& core);

// The method behind a bound along a chain that is not the sum of responses.
std::string_view chain_method(Test test, By by);

// What the supply of the core adds to a bound; empty: nothing.
std::string_view supply_method(const Supply& supply);

// The method behind the verdict on a core; empty if it is that of its demands.
std::string core_method(Test test, const ScenarioModel::CoreDemands& demands,
                        const CoreBounds& core);

}  // namespace takt::analysis
