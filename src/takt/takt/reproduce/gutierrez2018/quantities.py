# SPDX-License-Identifier: Apache-2.0
"""How a quantity of the tests is made from their runs."""

from __future__ import annotations

from takt.reproduce import quantity
from takt.reproduce.evidence import Evidence
from takt.reproduce.gutierrez2018 import runs
from takt.reproduce.gutierrez2018.vendors import known
from takt.reproduce.quantity import Check, Highest, Observed, Quantity, Share, pooled
from takt.reproduce.rare import Counts, Strata
from takt.reproduce.runs import OfRun
from takt.reproduce.scatter import Missing

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
HIGHEST = "the median of the runs' highest, of runs of one length, whose messages are shown"
MESSAGES = 60_001  # of a run of ten minutes, of which a table has the highest


def p99(test: str) -> Quantity[Evidence]:
    """The latency that 99 % of a test's messages keep."""
    return _median(test, "latency in µs that 99 % keep", runs.p99)


def p50(test: str) -> Quantity[Evidence]:
    """The median latency of a test."""
    return _median(test, "median latency in µs", runs.p50)


def highest(test: str) -> Highest[Evidence]:
    """The highest latency of a run of a test."""
    return _highest(test, "highest latency in µs of a run", runs.highest)


def above_average(test: str) -> Highest[Evidence]:
    """The jitter of a test as the tables have it."""
    return _highest(test, "µs from the average latency to the highest of a run", runs.above_average)


def messages(test: str) -> Quantity[Evidence]:
    """Of how many a run's highest is the highest."""
    return _median(test, "messages of a run", runs.sent)


def highest_of_all(test: str) -> Observed[Evidence]:
    """The highest latency of all runs of a test: what was seen once was seen."""
    return Observed(
        f"highest latency in µs of all runs of test {test}, {TESTS[test]}",
        lambda evidence: max(
            evidence.value(cell, runs.highest) for cell in evidence.cells(label=test)
        ),
    )


def missed(*tests: str) -> Share[Evidence]:
    """How many messages of tests miss their deadline, of all middlewares together."""
    return _share("messages that missed their deadline", runs.missed, tests)


def lost(*tests: str) -> Share[Evidence]:
    """How many messages of tests are lost, of all middlewares together."""
    return _share("messages that were lost", runs.lost, tests)


def left_out(test: str) -> Share[Evidence]:
    """How many cycles of a test pass without a message, of all middlewares together."""
    return _share("cycles without a message of their own", runs.left_out, (test,))


def far_above(test: str, times: float) -> Share[Evidence]:
    """How many messages of a test, of one middleware, take so many times their run's average."""
    return pooled(
        f"messages that took more than {times:.3g} times the run's average, as a share; "
        f"test {test}, {TESTS[test]}",
        lambda evidence: [evidence.counts(runs.far_above, times, label=test)],
    )


def measured_vendors(evidence: Evidence) -> list[str]:
    """The stacks of the vendors that were measured, in their order."""
    there = {cells[0].stack for cells in evidence.measured.points.values()}
    return [one.stack for one in known(there) if one.stack in there]


def _median(test: str, words: str, of: OfRun[float]) -> Quantity[Evidence]:
    return Quantity(
        f"{words}; test {test}, {TESTS[test]}; median over runs",
        lambda evidence: evidence.median(of, label=test),
    )


def _highest(test: str, words: str, of: OfRun[float]) -> Highest[Evidence]:
    return quantity.highest(
        f"{words}; test {test}, {TESTS[test]}; median over runs",
        lambda evidence: [[evidence.value(cell, of) for cell in evidence.cells(label=test)]],
        lambda evidence: min(cell.samples_requested for cell in evidence.cells(label=test)),
    )


def _share(words: str, of: OfRun[Counts], tests: tuple[str, ...]) -> Share[Evidence]:
    names = " and ".join(f"{one} ({TESTS[one]})" for one in tests)

    def strata(evidence: Evidence) -> Strata:
        stacks = measured_vendors(evidence)
        if not stacks:
            raise Missing("samples of a middleware")
        return [evidence.counts(of, stack=stack, label=test) for stack in stacks for test in tests]

    return pooled(
        f"{words}, as a share; {'tests' if len(tests) > 1 else 'test'} {names}; all middlewares "
        "together",
        strata,
    )
