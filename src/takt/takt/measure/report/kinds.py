# SPDX-License-Identifier: Apache-2.0
"""What each kind of measurement is called in a report, and what its time is."""

from __future__ import annotations

KINDS = {
    "wakeup": (
        "Timer wake-up",
        "Time from the programmed wake-up of a sleeping thread until it runs.",
    ),
    "timer-oneshot": (
        "One-shot timer",
        "Time from the timeout until the callback of the timer starts.",
    ),
    "timer-cyclic": (
        "Cyclic timer",
        "Time from the start plus whole periods until the callback of the timer starts.",
    ),
    "pingpong": (
        "Round trip",
        "Time from the planned sending of a message until its reply arrives.",
    ),
    "ethercat": (
        "EtherCAT cycle",
        "Time from the planned start of a cycle until its data is back from all slaves.",
    ),
    "supply": (
        "Supply of a core",
        "Time from the planned begin of a window until the watching thread runs.",
    ),
    "pubsub": (
        "Publish to subscribe",
        "Time from the planned publication of a message until a subscriber takes it.",
    ),
}
