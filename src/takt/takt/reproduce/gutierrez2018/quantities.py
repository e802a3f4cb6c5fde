# SPDX-License-Identifier: Apache-2.0
"""How a quantity of the tests is made from their runs."""

from __future__ import annotations

from takt.reproduce.evidence import Evidence
from takt.reproduce.gutierrez2018 import runs
from takt.reproduce.quantity import Check, Quantity, Share, share
from takt.reproduce.rare import Counts
from takt.reproduce.runs import OfRun

Checked = Check[Evidence]

TESTS = {
    "1.A": "idle, without real-time settings",
    "1.B": "under load, without real-time settings",
    "1.C": "idle",
    "1.D": "under load",
    "2.A": "1 Mbit/s",
    "2.B": "under load, 1 Mbit/s",
    "2.C": "40 Mbit/s",
    "2.D": "under load, 40 Mbit/s",
    "2.E": "80 Mbit/s",
    "2.F": "under load, 80 Mbit/s",
    "3.A": "32 KB",
    "3.B": "under load, 32 KB",
    "3.C": "under load, 128 KB",
    "4.A": "under load, 80 Mbit/s, priorities of kernel and DDS threads",
    "own-class-load": "under load, 80 Mbit/s, a traffic class of its own",
    "own-class": "80 Mbit/s, a traffic class of its own",
    "5.A": "under load, 1 Mbit/s, hours",
    "5.B": "under load, 40 Mbit/s, hours",
}
# What n messages without a case leave possible at 95 % is 3 / n (rule of three). Twice of that
# is still half of what the paper shows.
NEVER = "<= 2 * 3 / published_count"
PERCENTILE = (
    "what 99 % keep here, where the paper has the highest and the average: the highest grows with "
    "the length of a run"
)
HIGHEST = "the median of the runs' highest, of runs of one length"


def p99(test: str) -> Quantity[Evidence]:
    """The latency that 99 % of a test's messages keep."""
    return _median(test, "latency in µs that 99 % keep", runs.p99)


def p50(test: str) -> Quantity[Evidence]:
    """The median latency of a test."""
    return _median(test, "median latency in µs", runs.p50)


def highest(test: str) -> Quantity[Evidence]:
    """The highest latency of a run of a test."""
    return _median(test, "highest latency in µs of a run", runs.highest)


def spread(test: str) -> Quantity[Evidence]:
    """The jitter of a test."""
    return _median(test, "µs from the median latency to what 99 % keep", runs.spread)


def highest_of_all(test: str) -> Quantity[Evidence]:
    """The highest latency of all runs of a test."""
    return Quantity(
        f"highest latency in µs of all runs of test {test}, {TESTS[test]}",
        lambda seen: max(seen.value(cell, runs.highest) for cell in seen.cells(label=test)),
    )


def missed(*tests: str) -> Share[Evidence]:
    """How many messages of tests miss their deadline."""
    return _share("messages that missed their deadline", runs.missed, tests)


def lost(*tests: str) -> Share[Evidence]:
    """How many messages of tests are lost."""
    return _share("messages that were lost", runs.lost, tests)


def left_out(test: str) -> Share[Evidence]:
    """How many cycles of a test pass without a message."""
    return _share("cycles without a message of their own", runs.left_out, (test,))


def grown(after: str, before: str, published_after: str, published_before: str) -> str:
    """At least half of the paper's growth."""
    ratio = f"published_{published_after} / published_{published_before}"
    return f"{after} >= {before} * (1 + ({ratio} - 1) / 2)"


def shrunk(after: str, before: str, published_after: str, published_before: str) -> str:
    """At least half of what the paper's value goes down by."""
    ratio = f"published_{published_after} / published_{published_before}"
    return f"{after} <= {before} * (1 - (1 - {ratio}) / 2)"


def _median(test: str, words: str, of: OfRun[float]) -> Quantity[Evidence]:
    return Quantity(
        f"{words}; test {test}, {TESTS[test]}; median over runs",
        lambda seen: seen.median(of, label=test),
    )


def _share(words: str, of: OfRun[Counts], tests: tuple[str, ...]) -> Share[Evidence]:
    names = " and ".join(f"{one} ({TESTS[one]})" for one in tests)
    return share(
        f"{words}, as a share; {'tests' if len(tests) > 1 else 'test'} {names}",
        lambda seen: seen.counts(of, label=tests if len(tests) > 1 else tests[0]),
    )
