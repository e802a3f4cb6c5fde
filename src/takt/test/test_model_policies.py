# SPDX-License-Identifier: Apache-2.0
"""What takt model writes under policies that rank by periods, or leave a core idle on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("takt_core", reason="the C++ workspace is not built")

from idle_cores import application, robot
from modelled import round_trip

from takt.schedule.analysis.bounds import Bounds

MS = 1_000_000


def ranked(policy: str) -> dict[str, Any]:
    """What hears a scan from outside is told to be ranked as if it came every 50 ms."""
    return {
        "version": 1,
        "name": "ranked",
        "policy": policy,
        "cpus": [0],
        "topics": [{"name": "scan", "external": True, "external_period": 20 * MS, "depth": 4}],
        "callbacks": [
            {"name": "a.run", "node": "a", "period": 10 * MS, "execution": {"worst": 2 * MS}},
            {"name": "b.run", "node": "b", "period": 40 * MS, "execution": {"worst": 3 * MS}},
            {
                "name": "c.hear",
                "node": "c",
                "kind": "message",
                "trigger": "scan",
                "overrun": "catch_up",
                "period": 50 * MS,
                "deadline": 50 * MS,
                "execution": {"worst": 1 * MS},
            },
        ],
    }


@pytest.mark.parametrize("policy", ["rm", "p-rm"])
def test_a_declared_period_of_messages_stays_a_rank(tmp_path: Path, policy: str) -> None:
    document = ranked(policy)
    back, written = round_trip(document, tmp_path)
    (heard,) = [one for one in back["callbacks"] if one["name"] == "c.hear"]
    assert heard["period"] == 50 * MS
    assert not any("priority" in one for one in back["callbacks"])
    (described,) = [one for one in written.callbacks if one.callback == "c.hear"]
    assert f"period: as declared, from which {policy} makes its priority" in described.notes
    (topic,) = back["topics"]
    assert topic["external_period"] == 20 * MS
    assert Bounds(back).of == Bounds(document).of


@pytest.mark.parametrize("document", [application(), robot()], ids=["application", "robot"])
def test_waiting_for_a_job_to_come_is_no_jitter(tmp_path: Path, document: dict[str, Any]) -> None:
    back, _ = round_trip(document, tmp_path)
    named = {one["name"].partition(".")[0]: one for one in back["callbacks"]}
    assert {"high", "low"} <= named.keys()
    assert not any("jitter" in one for one in named.values())
    assert [one["policy"] for one in back.get("processes", [])] == (
        ["cw-edf", "fp"] if "processes" in document else []
    )
