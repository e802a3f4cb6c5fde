# SPDX-License-Identifier: Apache-2.0
"""The statements of Gutiérrez et al. 2018, sections III.B and IV, as checks."""

from __future__ import annotations

from takt.reproduce.gutierrez2018.quantities import (
    HIGHEST,
    NEVER,
    PERCENTILE,
    Checked,
    grown,
    highest,
    highest_of_all,
    left_out,
    lost,
    missed,
    p50,
    p99,
    shrunk,
    spread,
)
from takt.reproduce.quantity import Check

# No percentile is published. Load without real-time settings makes the highest latency 6.3 times as
# high where it does so least, and half of that is three times. With them it is 1.28 times as high
# where it grows most, beside traffic alone 1.05 times: twice such a growth is half as much again.
SEVERE, HARMLESS = "3", "1.5"
TUNED = "threads of network interrupts have priorities only where this kernel has such threads"
# At 95 % two cases leave as many as 6.3 possible.
HARDLY = "<= 2 * 6.3 / published_count"

LOAD: dict[str, Checked] = {
    "idle-low-jitter": Check(
        "p99_us <= p50_us * published_max_us / published_avg_us",
        {"p99_us": p99("1.A"), "p50_us": p50("1.A")},
        differs=PERCENTILE,
    ),
    "load-without-realtime": Check(
        f"p99_load_us >= {SEVERE} * p99_idle_us",
        {"p99_load_us": p99("1.B"), "p99_idle_us": p99("1.A")},
        differs=PERCENTILE,
    ),
    "load-misses": Check("missed >= published_missed_share / 2", {"missed": missed("1.B")}),
    "load-fewer-sent": Check(
        "left_out >= published_left_out_share / 2", {"left_out": left_out("1.B")}
    ),
    "realtime-improves": Check(
        shrunk("p99_with_us", "p99_without_us", "max_with_us", "max_without_us"),
        {"p99_with_us": p99("1.D"), "p99_without_us": p99("1.B")},
        differs=PERCENTILE,
    ),
    "realtime-load-harmless": Check(
        f"p99_load_us <= {HARMLESS} * p99_idle_us",
        {"p99_load_us": p99("1.D"), "p99_idle_us": p99("1.C")},
        differs=PERCENTILE,
    ),
    "realtime-never-misses": Check(
        f"missed {NEVER} and lost {NEVER}",
        {"missed": missed("1.C", "1.D"), "lost": lost("1.C", "1.D")},
    ),
}
TRAFFIC: dict[str, Checked] = {
    "traffic-alone-harmless": Check(
        " and ".join(f"p99_{rate}mbps_us <= {HARMLESS} * p99_quiet_us" for rate in (1, 40, 80)),
        {
            "p99_1mbps_us": p99("2.A"),
            "p99_40mbps_us": p99("2.C"),
            "p99_80mbps_us": p99("2.E"),
            "p99_quiet_us": p99("1.C"),
        },
        differs=PERCENTILE,
    ),
    "load-and-little-traffic": Check(f"missed {NEVER}", {"missed": missed("2.B", "2.D")}),
    "load-and-much-traffic": Check(
        "missed >= published_missed_share / 2 and lost >= published_lost_share / 2",
        {"missed": missed("2.F"), "lost": lost("2.F")},
    ),
    "load-and-traffic-combine": Check(
        grown("max_both_us", "max_load_us", "max_both_us", "max_load_us")
        + " and "
        + grown("max_both_us", "max_traffic_us", "max_both_us", "max_traffic_us"),
        {
            "max_both_us": highest("2.F"),
            "max_load_us": highest("1.D"),
            "max_traffic_us": highest("2.E"),
        },
        differs=HIGHEST,
    ),
}
PAYLOAD: dict[str, Checked] = {
    "payload-32k-peaks": Check(
        grown("max_load_us", "max_idle_us", "max_load_us", "max_idle_us"),
        {"max_load_us": highest("3.B"), "max_idle_us": highest("3.A")},
        differs=HIGHEST,
    ),
    "payload-32k-never-misses": Check(
        f"missed {NEVER} and lost {NEVER}", {"missed": missed("3.B"), "lost": lost("3.B")}
    ),
    "payload-128k-misses": Check(
        "missed >= published_missed_share / 2 and lost >= published_lost_share / 2",
        {"missed": missed("3.C"), "lost": lost("3.C")},
    ),
    "payload-slower": Check(
        grown("p50_128k_us", "p50_32k_us", "avg_128k_us", "avg_32k_us"),
        {"p50_128k_us": p50("3.C"), "p50_32k_us": p50("3.B")},
        differs="medians here, averages there: on a shared machine a single stolen time slice "
        "moves an average",
    ),
    "payload-rate": Check(
        "left_out >= published_left_out_share / 2", {"left_out": left_out("3.C")}
    ),
}
TUNING: dict[str, Checked] = {
    "tuned-improves": Check(
        shrunk("max_tuned_us", "max_untuned_us", "max_after_us", "max_before_us"),
        {"max_tuned_us": highest("4.A"), "max_untuned_us": highest("2.F")},
        differs=f"{TUNED}; {HIGHEST}",
    ),
    "tuned-hardly-misses": Check(
        f"missed {NEVER} and lost {HARDLY}",
        {"missed": missed("4.A"), "lost": lost("4.A")},
        differs=TUNED,
    ),
}
HOURS: dict[str, Checked] = {
    "hours-show-more": Check(
        grown("max_hours_us", "max_minutes_us", "max_hours_us", "max_minutes_us"),
        {"max_hours_us": highest_of_all("5.B"), "max_minutes_us": highest("2.D")},
        differs="at a smaller scale both are shorter, the hours by more than the minutes",
    ),
    "hours-lose-some": Check(
        f"lost_hours > 0 and lost_minutes {NEVER}",
        {"lost_hours": lost("5.B"), "lost_minutes": lost("2.D")},
    ),
    "hours-lose-few": Check("lost <= 2 * published_lost / published_sent", {"lost": lost("5.B")}),
    "hours-quiet": Check(
        f"lost {NEVER} and missed {NEVER}", {"lost": lost("5.A"), "missed": missed("5.A")}
    ),
    "hours-jitter": Check(
        shrunk("spread_1mbps_us", "spread_40mbps_us", "above_avg_1mbps_us", "above_avg_40mbps_us"),
        {"spread_1mbps_us": spread("5.A"), "spread_40mbps_us": spread("5.B")},
        differs="from the median to what 99 % keep; there from the average to the highest, of ten "
        "minutes, as no table has the hours at 1 Mbit/s",
    ),
}
CONCLUSION: dict[str, Checked] = {
    "realtime-jitter": Check(
        shrunk("max_with_us", "max_without_us", "max_with_us", "max_without_us")
        + " and "
        + shrunk(
            "spread_with_us", "spread_without_us", "above_avg_with_us", "above_avg_without_us"
        ),
        {
            "max_with_us": highest("1.D"),
            "max_without_us": highest("1.B"),
            "spread_with_us": spread("1.D"),
            "spread_without_us": spread("1.B"),
        },
        differs=f"{HIGHEST}; jitter from the median to what 99 % keep, there from the average to "
        "the highest",
    ),
    "traffic-limits": Check(
        f"p99_traffic_us > {HARMLESS} * p99_quiet_us",
        {"p99_traffic_us": p99("2.F"), "p99_quiet_us": p99("1.D")},
        differs=PERCENTILE,
        shown={"p99_idle_traffic_us": p99("2.E"), "p99_idle_quiet_us": p99("1.C")},
    ),
    # Nothing is published of it. Without load nothing else competes.
    "own-class-mends": Check(
        f"p99_own_us <= {HARMLESS} * p99_quiet_us",
        {"p99_own_us": p99("own-class"), "p99_quiet_us": p99("1.C")},
        differs="80 of 100 Mbit/s without load; the paper proposes it and does not measure it",
        shown={
            "p99_traffic_us": p99("2.E"),
            "p99_load_own_us": p99("own-class-load"),
            "p99_load_quiet_us": p99("1.D"),
        },
    ),
}
CHECKS: dict[str, Checked] = {**LOAD, **TRAFFIC, **PAYLOAD, **TUNING, **HOURS, **CONCLUSION}
