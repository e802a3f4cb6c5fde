# SPDX-License-Identifier: Apache-2.0
"""Loads on the machines of workers: each has its own, proved there, and gone with its worker."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, cast

import pytest
import synthetic_hosts
from synthetic_hosts import Cluster, until
from test_process import gone
from test_workers import (
    fake,
    measured,
    nothing_left,
    recording_there,
    start,
    title,
)

from takt.measure.conditions import elsewhere, load
from takt.measure.results import store
from takt.measure.results.model import Cell, Status
from takt.network.workers import Workers

pytestmark = pytest.mark.timeout(720)  # as those of workers


def loads(folder: Path) -> list[int]:
    """The programs of loads that run on the machines."""
    marked = synthetic_hosts.marked(folder)
    return [pid for pid in marked if "sched_setaffinity" in title(pid)]


def test_each_host_has_its_load(tmp_path: Path, machine_folder: Path, cluster: Cluster) -> None:
    words = fake("fine", load="idle,cpu", payload="1B", duration="500ms")
    cell = measured(cluster, tmp_path / "out", *words).cells[0]
    assert cell.key.endswith("load_idle+cpu")
    assert cell.conditions is not None
    assert cell.conditions.load_cpu_share is None  # it is nothing of one machine
    idle, busy = (cell.conditions.hosts[name] for name in ("controller", "component"))
    assert idle.load_cpu_share is None
    assert idle.idle_cpu_share is not None
    assert busy.load_cpu_share is not None
    assert busy.load_cpu_share >= load.LEAST_SHARE
    assert busy.idle_cpu_share is not None
    assert busy.idle_cpu_share <= load.MOST_IDLE
    assert until(lambda: nothing_left(machine_folder) and not loads(machine_folder))


@pytest.mark.thorough
def test_a_killed_worker_takes_its_load_along(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    tool = start(cluster, out, *fake("fine", load="none,cpu", duration="600s"))
    try:
        assert until(lambda: recording_there(machine_folder))
        there = loads(machine_folder)
        assert there
        os.kill(cluster.workers["component"].pid, signal.SIGKILL)
        tool.wait(200)
    finally:
        tool.kill()
    cell = store.read(out).cells[0]
    assert cell.status is Status.failed
    assert cell.error is not None
    assert "lost the host component: " in cell.error.what
    assert until(lambda: all(map(gone, there)))
    assert until(lambda: nothing_left(machine_folder))


class Known:
    """Workers of which only what they say of themselves is asked."""

    def __init__(self, **about: Any) -> None:
        self._about = {"programs": ["stress-ng", "iperf3"], "memory_bytes": 8 << 30} | about

    def about(self, name: str, stacks: list[str]) -> dict[str, Any]:
        return self._about


@pytest.mark.parametrize(
    ("about", "load", "what"),
    [
        ({}, "stress,stress 2", ""),
        ({"programs": []}, "stress,stress 2", "stress-ng is not installed on the host "),
        ({"programs": []}, "idle,cpu", ""),
        ({"memory_bytes": 512 << 20}, "stress,stress 2", "the load stress needs 512 MiB"),
    ],
)
def test_what_a_host_lacks_for_its_load_is_known(
    about: dict[str, Any], load: str, what: str
) -> None:
    point = Cell.model_construct(
        kind="pingpong", stack="fake", host="controller,component", load=load
    )
    found = list(elsewhere.without(point, point.hosts, cast("Workers", Known(**about))))
    assert all(text.startswith(what) for _, text, _ in found)
    assert bool(found) == bool(what)
    if what.startswith("stress-ng"):
        assert [text.split()[-1] for _, text, _ in found] == point.hosts
        assert {fix for _, _, fix in found} == {"on that machine: apt-get install stress-ng"}
