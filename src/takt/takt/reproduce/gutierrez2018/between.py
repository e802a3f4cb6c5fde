# SPDX-License-Identifier: Apache-2.0
"""Statements on several middlewares side by side (Gutiérrez et al. 2018, section IV), as checks."""

from __future__ import annotations

from statistics import fmean

from takt.reproduce.criterion import EFFECT, LEAST, grown, sized
from takt.reproduce.evidence import Evidence
from takt.reproduce.gutierrez2018 import runs
from takt.reproduce.gutierrez2018.findings import POOLED
from takt.reproduce.gutierrez2018.quantities import TESTS, Checked, measured_vendors
from takt.reproduce.gutierrez2018.vendors import VENDORS
from takt.reproduce.quantity import Check, Quantity
from takt.reproduce.rare import Counts
from takt.reproduce.runs import OfRun
from takt.reproduce.scatter import Missing

WITHOUT_ROS2 = (
    "RustDDS has no ROS 2 above it here, nor has Cyclone DDS where this ROS 2 does not have it; "
    "there all three have it"
)
WITHOUT_TABLE = ("5.A", "own-class", "own-class-load")


def _measured(evidence: Evidence) -> list[str]:
    """The stacks of the vendors that were measured; Missing where there are not two."""
    found = measured_vendors(evidence)
    if len(found) < 2:
        names = ", ".join(one.name for one in VENDORS if one.stack in found) or "none"
        raise Missing(f"at least two of the middlewares; measured: {names}")
    return found


def _averages(evidence: Evidence) -> list[float]:
    """Mean latency of an idle system, of each vendor."""
    return [
        fmean(evidence.value(cell, runs.average) for cell in evidence.cells(stack=one, label="1.A"))
        for one in _measured(evidence)
    ]


def _alike(evidence: Evidence, of: OfRun[Counts]) -> float:
    """In how many tests all vendors have cases, or none has."""
    stacks = _measured(evidence)
    tests = [one for one in TESTS if one not in WITHOUT_TABLE]
    agreed = 0
    for test in tests:
        had = {
            any(cases for cases, _ in evidence.counts(of, stack=one, label=test)) for one in stacks
        }
        agreed += len(had) == 1
    return agreed / len(tests)


def _share_alike(name: str) -> str:
    """As far beyond chance as in the paper."""
    return f"{name} > 0.5 + (published_{name} / published_tables - 0.5) {EFFECT}"


COMPARED: dict[str, Checked] = {
    "vendors-differ": Check(
        # The slowest is slower by definition: without this much there is no difference.
        sized(grown("highest_avg_us", "lowest_avg_us"), LEAST),
        {
            "lowest_avg_us": Quantity(
                "mean latency in µs of the fastest middleware; test 1.A",
                lambda evidence: min(_averages(evidence)),
            ),
            "highest_avg_us": Quantity(
                "mean latency in µs of the slowest middleware; test 1.A",
                lambda evidence: max(_averages(evidence)),
            ),
        },
        differs=WITHOUT_ROS2,
    ),
    "vendors-alike": Check(
        f"{_share_alike('missed_alike')} and {_share_alike('lost_alike')}",
        {
            "missed_alike": Quantity(
                "share of the tests in which all middlewares missed deadlines, or none did",
                lambda evidence: _alike(evidence, runs.missed),
            ),
            "lost_alike": Quantity(
                "share of the tests in which all middlewares lost messages, or none did",
                lambda evidence: _alike(evidence, runs.lost),
            ),
        },
    ),
}
CHECKS: dict[str, Checked] = {**POOLED, **COMPARED}
