# SPDX-License-Identifier: Apache-2.0
"""The example of a critical and a bulk topic in one node: what set-real-time-settings.md says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from takt.schedule.analysis.ask import analyse
from takt.schedule.application.executors import STOCK_EXECUTORS
from takt.schedule.application.file import read_application
from takt.schedule.application.flat import flat

FILE = Path(__file__).resolve().parents[3] / "examples/mixed_criticality.app.yaml"


def critical(receivers: int, **executor: str) -> tuple[float | None, str]:
    """Bound in ms and verdict of the chain with these DDS threads and this executor."""
    document: dict[str, Any] = flat(read_application(FILE))
    (robot,) = (one for one in document["processes"] if one["name"] == "robot")
    (dds,) = robot["threads"]
    dds["priority"] = receivers
    robot.pop("policy", None)
    robot.update(executor)
    (scenario,) = analyse(document, str(FILE), proposals=False).scenarios
    (chain,) = (one for one in scenario.chains if one.name == "critical")
    bound = None if chain.latency_us is None else chain.latency_us / 1000
    return bound, "meets" if chain.meets else "not proved"


@pytest.mark.parametrize("policy", ["fp", "dm", "edf"])
def test_preemption_and_urgent_dds_threads_together_keep_the_limit(policy: str) -> None:
    assert critical(90, policy=policy) == (pytest.approx(2.02), "meets")
    assert critical(20, policy=policy) == (pytest.approx(9.96), "not proved")


@pytest.mark.parametrize(
    "executor",
    [{"policy": "np-fp"}, {"policy": "np-edf"}, *({"executor": one} for one in STOCK_EXECUTORS)],
)
def test_without_preemption_the_bulk_topic_delays_the_critical_one(
    executor: dict[str, str],
) -> None:
    assert critical(90, **executor) == (pytest.approx(10.02), "not proved")
    assert critical(20, **executor) == (None, "not proved")
