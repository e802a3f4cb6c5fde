# SPDX-License-Identifier: Apache-2.0
"""Load and traffic on the machines of workers: proved there, and gone with their worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import synthetic_hosts
from conditioned import BUILT, needs, on_a_disk
from synthetic_hosts import Cluster, until
from test_process import gone
from test_real_probes import INSTALLED
from test_workers import (
    fake,
    measured,
    nothing_left,
    recording_there,
    start,
    title,
)

from takt.errors import Failure
from takt.measure.conditions import elsewhere, load, tuned
from takt.measure.conditions.machine import Here, Look
from takt.measure.report.conditions import condition_row
from takt.measure.results import store
from takt.measure.results.model import Cell, Conditions, Status
from takt.network import clocks
from takt.network.hosts import Hosts, Side
from takt.network.workers import Workers

pytestmark = pytest.mark.timeout(720)  # as those of workers


def around(folder: Path) -> list[int]:
    """The programs of loads and traffic that run on the machines."""
    words = ("sched_setaffinity", "stress-ng", "iperf3")
    marked = synthetic_hosts.marked(folder)
    return [pid for pid in marked if any(word in title(pid) for word in words)]


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
    assert until(lambda: nothing_left(machine_folder) and not around(machine_folder))


@pytest.mark.thorough
def test_a_killed_worker_takes_its_load_along(
    tmp_path: Path, machine_folder: Path, cluster: Cluster
) -> None:
    out = tmp_path / "out"
    tool = start(cluster, out, *fake("fine", load="none,cpu", duration="600s"))
    try:
        assert until(lambda: recording_there(machine_folder))
        there = around(machine_folder)
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


class Silent(Here):
    """A machine that does not answer any more."""

    def look(self, programs: object) -> Look:
        raise Failure("it does not answer")


def test_a_load_of_which_nothing_is_known_fails_its_cell(tmp_path: Path) -> None:
    cell = cast("Cell", SimpleNamespace(id="cell"))
    asked = load.Load(cell, load.CPU, tmp_path, Silent(tmp_path, "component"))
    asked.begin()
    asked.end()
    fault = asked.fault(cell)
    assert fault is not None
    assert fault.what == "nothing is known of the load cpu on component"


class Busy:
    """A worker on a machine, of which only its CPU time is asked."""

    def __init__(self, on: str, pid: int, seconds: float) -> None:
        self._spent = on, pid, seconds, float(pid)

    def ask(self, what: str) -> Any:
        assert what == "spent"
        return self._spent


def test_what_workers_on_this_machine_use_is_ours_and_of_no_other_machine() -> None:
    def hosts(*workers: Any) -> Hosts:
        active, passive = (Side(remote=one) for one in workers)
        return Hosts(active, passive)

    here = clocks.identity()
    apart = hosts(Busy("there", 5, 40.0), Busy("elsewhere", 5, 50.0))
    assert (apart.spent_here(), apart.one_is_here) == ((0.0, None), False)
    one = hosts(Busy(here, 5, 2.0), Busy("there", 5, 40.0))
    assert (one.spent_here(), one.one_is_here) == ((2.0, 5.0), True)
    both = hosts(Busy(here, 5, 2.0), Busy(here, 6, 3.0))
    assert both.spent_here() == (5.0, 5.5)
    same = hosts(Busy(here, 5, 2.0), Busy(here, 5, 2.0))  # of two roles by one worker
    assert same.spent_here() == (2.0, 5.0)
    assert Hosts.one().one_is_here


def test_the_page_has_the_load_of_each_host() -> None:
    found = Conditions()
    found.of("pc").load_cpu_share = 0.5
    found.of("arm").load_cpu_share = 0.125
    row = condition_row("round trips", "other", [Cell.model_construct(conditions=found)])
    assert row is not None
    pc, arm = row.load.split("; ")
    assert pc.startswith("pc: 50")
    assert arm.startswith("arm: 12.5")


_ALL_THERE = {
    "programs": ["stress-ng", "iperf3"],
    "memory_bytes": 8 << 30,
    "without_traffic": "",
}


class Known:
    """Workers of which only what they say of themselves is asked."""

    def __init__(self, **about: Any) -> None:
        self._about = _ALL_THERE | about

    def about(self, name: str, stacks: list[str]) -> dict[str, Any]:
        return self._about

    def call(self, name: str, function: Callable[[], Any]) -> Any:
        return function()


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


@pytest.mark.parametrize(
    ("about", "what"),
    [
        ({}, ""),
        ({"programs": ["stress-ng"]}, "iperf3 is not installed on the host "),
        ({"without_traffic": "the interface lo has none"}, "no traffic with the host "),
    ],
)
def test_what_a_host_lacks_for_traffic_is_known(about: dict[str, Any], what: str) -> None:
    point = Cell.model_construct(
        kind="pingpong", stack="fake", host="here,component", traffic_mbps=2.0
    )
    found = list(elsewhere.without(point, ["component"], cast("Workers", Known(**about))))
    assert [text.split("component")[0] for _, text, _ in found] == ([what] if what else [])


def test_a_host_whose_worker_may_not_change_settings_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = Cell.model_construct(
        kind="pingpong", stack="fake", host="here,component", tuned="ksoftirqd"
    )
    monkeypatch.setattr(tuned.journal, "may_record", lambda _: False)
    found = list(elsewhere.without(point, ["component"], cast("Workers", Known())))
    what = "this user may not change machine settings, on the host component"
    assert found == [("tuned", what, "on that machine: use sudo")]


@pytest.mark.thorough
def test_two_namespaces_have_loads_and_traffic_of_their_own(
    tmp_path: Path, machine_folder: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lack := synthetic_hosts.lacking():
        pytest.skip(f"no network namespaces can be made here: {lack}")
    if "raw" not in INSTALLED:
        pytest.skip("the stack raw is not installed")
    needs(load="stress 1", traffic_mbps=2.0)
    on_a_disk(tmp_path)
    words = ["measure", "pingpong", "--stack", "raw", "--transport", "udp", "--rate", "100Hz"]
    words += ["--host", "controller,component", "--repetitions", "1", "--duration", "1s"]
    words += ["--load", "stress 1,cpu", "--traffic", "2Mbps", "--payload", "500B"]
    monkeypatch.setenv("TAKT_PREFIX", BUILT)
    with synthetic_hosts.apart(machine_folder) as cluster:
        cell = measured(cluster, tmp_path / "out", *words).cells[0]
        assert until(lambda: nothing_left(machine_folder) and not around(machine_folder))
    assert (cell.error, cell.status, cell.count) == (None, Status.complete, 100)
    found = cell.conditions
    assert found is not None
    for name in ("controller", "component"):
        assert (found.hosts[name].load_cpu_share or 0) >= load.LEAST_SHARE
    for rate in (found.traffic_there_mbps, found.traffic_back_mbps):
        assert rate is not None
        assert rate >= 0.9 * cell.traffic_mbps
    assert found.link_there_bytes is not None
    assert found.messages_there_bytes is not None
    assert found.link_there_bytes > found.messages_there_bytes + 2e6 / 8 * 0.9
    assert found.messages_there_bytes >= cell.count * cell.payload_bytes


@pytest.mark.thorough
def test_a_killed_worker_takes_stress_ng_and_iperf3_along(
    tmp_path: Path, machine_folder: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lack := synthetic_hosts.lacking():
        pytest.skip(f"no network namespaces can be made here: {lack}")
    needs(load="stress 1", traffic_mbps=2.0)
    on_a_disk(tmp_path)
    words = fake("fine", load="stress 1", traffic="2Mbps", duration="600s")
    with synthetic_hosts.apart(machine_folder) as cluster:
        tool = start(cluster, tmp_path / "out", *words)
        try:
            assert until(lambda: recording_there(machine_folder))
            there = around(machine_folder)
            kinds = [
                name for name in ("stress-ng", "iperf3") if any(name in title(pid) for pid in there)
            ]
            os.kill(cluster.workers["component"].pid, signal.SIGKILL)
            tool.wait(200)
        finally:
            tool.kill()
        assert until(lambda: all(map(gone, there)))
        assert until(lambda: nothing_left(machine_folder))
    cell = store.read(tmp_path / "out").cells[0]
    assert kinds == ["stress-ng", "iperf3"]
    assert cell.error is not None
    assert "lost the host component: " in cell.error.what
